"""Tables of a report: summary, differences, queries, ablations, times, missing results."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from imboost.benchmark.analysis.ablations import AblationTable
from imboost.benchmark.analysis.aggregate import is_tabular, of_metric
from imboost.benchmark.analysis.comparison import outcome, paired_intervals
from imboost.benchmark.analysis.coverage import failed_runs
from imboost.benchmark.analysis.result_set import ResultSet
from imboost.benchmark.paper import paper_round_deviations, paper_rounds
from imboost.benchmark.report.data_set_tables import row_names
from imboost.reporting import Table
from imboost.reporting.formatting import Kind

METRIC_NAMES = {"AUC": "test_auc", "AP": "test_ap"}
CI_LOW, CI_HIGH = "95% CI low", "95% CI high"


def summary_table(results: ResultSet) -> Table:
    """Return one row per method, the best first; the paper's columns only if it has figures."""
    methods, ranking = results.methods, results.rankings["test_auc"]
    runs = results.runs.groupby("method")
    n_seeds = results.figures["n_seeds"].groupby("method")
    table = pd.DataFrame(index=pd.Index(methods, name="method"))
    table["data sets"] = runs["group"].nunique()
    table["seeds"] = n_seeds.agg(
        lambda own: f"{own.min()} to {own.max()}" if own.nunique() > 1 else f"{own.min()}"
    )
    kinds: dict[str, Kind] = {"data sets": "count", "seeds": "count"}
    for name, metric in METRIC_NAMES.items():
        means = results.means(metric)
        table[f"test {name}"] = means["mean"]
        if any(results.keys[method].paper_column for method in methods):
            table[f"paper {name}"] = means["paper"]
            table[f"{name} difference"] = means["difference"]
        if name == "AUC":
            tables = [group for group in results.shared if is_tabular(group)]
            embeddings = [group for group in results.shared if not is_tabular(group)]
            if tables and embeddings:
                table["AUC, tables"] = results.means(metric, tables)["mean"]
                table["AUC, embeddings"] = results.means(metric, embeddings)["mean"]
            table["mean rank"] = ranking.ranks
            table["wins"] = ranking.wins
    table["seconds per run"] = runs["seconds"].mean()
    table[f"AUC vs {results.reference}"] = _outcomes(results)
    for name in table.columns[2:-1]:
        is_number = name in ("mean rank", "wins", "seconds per run")
        kinds[name] = "signed" if "difference" in name else "number" if is_number else "figure"
    return Table(table.reset_index(), kinds, marked=results.reference)


def difference_table(results: ResultSet) -> Table:
    """Return the paired difference of every method to the reference, with its interval."""
    table = _with_interval_names(results.gains, "difference").assign(outcome=_outcomes(results))
    return Table(table.reset_index(names="method"), _interval_kinds("difference"))


def query_table(results: ResultSet) -> Table:
    """Return IMBoost's query strategies round by round (tables C.6 and C.7)."""
    rows = []
    curves = results.curves(results.queries, results.query_groups)
    for name in results.queries if results.query_groups else []:
        key = results.keys[name]
        means = paper_rounds(key.query) if key.is_plain else {}
        deviations = paper_round_deviations(key.query) if key.is_plain else {}
        for number, curve in curves.loc[name].iterrows():
            rows.append(
                {
                    "query": key.query,
                    "round": number,
                    "test AUC": curve["mean"],
                    "std": curve["std"],
                    "paper": means.get(number),
                    "paper std": deviations.get(number),
                }
            )
    columns = ["query", "round", "test AUC", "std", "paper", "paper std"]
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[2:], float))
    table["difference"] = table["test AUC"] - table["paper"]
    kinds: dict[str, Kind] = {"round": "count", **dict.fromkeys(columns[2:], "figure")}
    return Table(table, {**kinds, "difference": "signed"})


def ablation_table(ablation: AblationTable) -> Table:
    """Return the test AUC for every value of a setting (tables C.8 to C.12)."""
    names = {"mean": "test AUC", "low": CI_LOW, "high": CI_HIGH}
    table = ablation.values.drop(columns="n").rename(columns=names)
    table.insert(0, ablation.ablation.symbol, [f"{value:g}" for value in table.index])
    kinds: dict[str, Kind] = {"test AUC": "figure", "std": "figure", "paper": "figure"}
    kinds |= _interval_kinds("difference")
    return Table(table, kinds, marked=f"{ablation.ablation.default:g}")


def time_table(results: ResultSet) -> Table:
    """Return running times as ratios to the reference's (table C.13)."""
    reference_seconds = f"seconds of {results.reference}"
    names = {"host": "machine", "reference_seconds": reference_seconds}
    table = results.times.rename(columns=names)
    if len(table[["device", "machine"]].drop_duplicates()) < 2:
        table = table.drop(columns="machine")
    kinds: dict[str, Kind] = {"runs": "count", "seconds": "number", reference_seconds: "number"}
    return Table(table, {**kinds, "ratio": "ratio", "paper": "ratio"}, marked=results.reference)


def reference_table(results: ResultSet) -> Table:
    """Return the reference's test metrics on every data set."""
    figures = results.figures.loc[results.reference]
    groups = [group for group in results.groups if group in figures.index]
    own = of_metric(figures, "test_auc").loc[groups]
    table = pd.DataFrame({"data set": row_names(results, groups), "seeds": own["n_seeds"]})
    kinds: dict[str, Kind] = {"seeds": "count", "seconds per run": "number"}
    for name, metric in METRIC_NAMES.items():
        columns = {
            "mean": f"test {name}",
            "std": f"{name} std",
            "paper": f"paper {name}",
            "difference": f"{name} difference",
        }
        renamed = of_metric(figures, metric).rename(columns=columns)
        table = table.join(renamed[list(columns.values())])
        kinds |= dict.fromkeys(columns.values(), "figure")
        kinds[columns["difference"]] = "signed"
    return Table(table.assign(**{"seconds per run": own["seconds"]}), kinds)


def protocol_table(results: ResultSet) -> Table:
    """Return methods under other protocols, compared with the main protocol."""
    difference = "difference to the main protocol"
    means = results.means("test_auc", list(results.figures.index.unique("group")))["mean"]
    rows = []
    for name in results.variants:
        row = {"method": name, "test AUC": means[name]}
        main = results.keys[name].under(results.protocol).name
        if main in results.keys:
            runs = results.runs[results.runs["method"].isin([name, main])]
            gains = paired_intervals(runs, main, "test_auc")
            row |= _with_interval_names(gains, difference).loc[name].to_dict()
        rows.append(row)
    columns = ["method", "test AUC", "data sets", difference, CI_LOW, CI_HIGH]
    table = pd.DataFrame(rows, columns=columns)
    return Table(table, {"test AUC": "figure", **_interval_kinds(difference)})


def missing_table(results: ResultSet) -> Table:
    """Return the data sets left out of the comparison and the methods that lack them."""
    reasons = ["skipped", "failed", "not run"]
    missing = results.coverage.missing.groupby(["group", "status"], sort=False)["method"]
    names = missing.agg(lambda own: _named(list(own), results.methods))
    table = names.unstack("status").reindex(columns=reasons)
    table = table.reindex([group for group in results.groups if group in table.index])
    kinds: dict[str, Kind] = dict.fromkeys(reasons, "prose")
    return Table(table.reset_index(names="data set"), kinds)


def failure_table(results: ResultSet) -> Table:
    """Return the runs without a result, grouped by reason."""
    kinds: dict[str, Kind] = {"runs": "count", "reason": "prose", "which": "prose"}
    return Table(failed_runs(results.failed), kinds)


def _outcomes(results: ResultSet) -> pd.Series:
    outcomes = {gain.Index: outcome(gain) for gain in results.gains.itertuples()}
    return pd.Series(outcomes, dtype=object)


def _with_interval_names(intervals: pd.DataFrame, name: str) -> pd.DataFrame:
    names = {"n": "data sets", "mean": name, "low": CI_LOW, "high": CI_HIGH}
    return intervals.rename(columns=names)


def _interval_kinds(name: str) -> dict[str, Kind]:
    return {"data sets": "count", name: "signed", CI_LOW: "signed", CI_HIGH: "signed"}


def _named(methods: Sequence[str], compared: Sequence[str], most: int = 4) -> str:
    """List methods; more than `most` by those that are not among them, if these are fewer."""
    others = [name for name in compared if name not in methods]
    if len(methods) > most and len(others) < len(methods):
        return f"all but {', '.join(others)}" if others else "all"
    return ", ".join(name for name in compared if name in methods)
