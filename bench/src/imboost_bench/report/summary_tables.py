"""Tables of a report: summary, differences, queries, ablations, times, missing results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from imboost_bench.analysis.ablations import AblationTable
from imboost_bench.analysis.aggregate import is_tabular, of_metric
from imboost_bench.analysis.comparison import outcome, paired_intervals
from imboost_bench.analysis.method_key import rows_unlike_paper
from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.paper import paper_rounds
from imboost_bench.report.data_set_tables import row_names
from imboost_bench.report.formatting import Kind
from imboost_bench.report.report_table import Table

METRIC_NAMES = {"AUC": "test_auc", "AP": "test_ap"}
CI_LOW, CI_HIGH, TO_MAIN = "95% CI low", "95% CI high", "difference to the main protocol"
INTERVAL_NAMES = {"n": "data sets", "low": CI_LOW, "high": CI_HIGH}

_FIGURES = ["test AUC", "test AP", "paper AUC", "paper AP", "AUC, tables", "AUC, embeddings"]
_STDS = ["std", "AUC std", "AP std", "paper std"]
_COLUMNS: dict[Kind, list[str]] = {
    "count": ["data sets", "seeds", "round", "runs"],
    "figure": [*_FIGURES, *_STDS, "paper"],
    "signed": ["difference", "AUC difference", "AP difference", TO_MAIN, CI_LOW, CI_HIGH],
    "number": ["mean rank", "wins", "seconds", "seconds per run"],
    "prose": ["skipped", "failed", "not run", "reason", "which"],
}
KINDS = {name: kind for kind, names in _COLUMNS.items() for name in names}
"""Format of every column of these tables that is not plain text."""


def summary_table(results: ResultSet) -> Table:
    """Return one row per method, the best first; the paper's columns only if it has figures.

    These, and the differences to them, are over `ResultSet.paper_groups`.
    """
    methods, ranking = results.methods, results.rankings["test_auc"]
    runs = results.runs.groupby("method")
    table = pd.DataFrame(index=pd.Index(methods, name="method"))
    table["data sets"] = runs["group"].nunique()
    table["seeds"] = (
        results.figures["n_seeds"]
        .groupby("method")
        .agg(lambda own: f"{own.min()} to {own.max()}" if own.nunique() > 1 else f"{own.min()}")
    )
    for name, metric in METRIC_NAMES.items():
        means = results.means(metric)
        table[f"test {name}"] = means["mean"]
        if any(results.keys[method].paper_column for method in methods):
            compared = results.means(metric, results.paper_groups)
            table[f"paper {name}"] = compared["paper"]
            table[f"{name} difference"] = compared["difference"]
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
    return Table(table.reset_index(), KINDS, marked=results.reference)


def difference_table(results: ResultSet) -> Table:
    """Return the paired difference of every method to the reference, with its interval."""
    table = results.gains.rename(columns=INTERVAL_NAMES | {"mean": "difference"})
    return Table(table.assign(outcome=_outcomes(results)).reset_index(names="method"), KINDS)


def query_table(results: ResultSet) -> Table:
    """Return IMBoost's query strategies round by round (tables C.6 and C.7)."""
    rows = []
    curves = results.curves(results.queries, results.query_groups)
    for name in results.queries if results.query_groups else []:
        key = results.keys[name]
        means, stds = (
            paper_rounds(key.query, of) if key.is_plain else {} for of in ("mean", "std")
        )
        rows += [
            (key.query, number, mean, std, means.get(number), stds.get(number))
            for number, mean, std in curves.loc[name].itertuples(name=None)
        ]
    columns = ["query", "round", "test AUC", "std", "paper", "paper std"]
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[2:], float))
    return Table(table.assign(difference=table["test AUC"] - table["paper"]), KINDS)


def ablation_table(ablation: AblationTable) -> Table:
    """Return the test AUC for every value of a setting (tables C.8 to C.12)."""
    table = ablation.values.drop(columns="n").rename(columns=INTERVAL_NAMES | {"mean": "test AUC"})
    table.insert(0, ablation.ablation.symbol, [f"{value:g}" for value in table.index])
    return Table(table, KINDS, marked=f"{ablation.ablation.default:g}")


def time_table(results: ResultSet) -> Table:
    """Return running times as ratios to the reference's (table C.13)."""
    reference_seconds = f"seconds of {results.reference}"
    names = {"host": "machine", "reference_seconds": reference_seconds}
    table = results.times.rename(columns=names)
    if len(table[["device", "machine"]].drop_duplicates()) < 2:
        table = table.drop(columns="machine")
    kinds: dict[str, Kind] = {reference_seconds: "number", "ratio": "ratio", "paper": "ratio"}
    return Table(table, KINDS | kinds, marked=results.reference)


def reference_table(results: ResultSet) -> Table:
    """Return the reference's test metrics on every data set."""
    figures = results.figures.loc[results.reference]
    groups = [group for group in results.groups if group in figures.index]
    own = of_metric(figures, "test_auc").loc[groups]
    table = pd.DataFrame({"data set": row_names(results, groups), "seeds": own["n_seeds"]})
    for name, metric in METRIC_NAMES.items():
        columns = {
            "mean": f"test {name}",
            "std": f"{name} std",
            "paper": f"paper {name}",
            "difference": f"{name} difference",
        }
        table = table.join(of_metric(figures, metric)[list(columns)].rename(columns=columns))
    return Table(table.assign(**{"seconds per run": own["seconds"]}), KINDS)


def protocol_table(results: ResultSet) -> Table:
    """Return the methods run under other protocols, and their differences to the main one.

    The paper's AUC and the difference to it are over the data sets with the paper's rows.
    """
    rows = []
    for name, key in results.keys.items():
        if key.protocol == results.protocol:
            continue
        own = of_metric(results.figures.loc[name], "test_auc")
        share = key.protocol.outlier_share
        unlike = [rows_unlike_paper(group, share, n) for group, n in own["n_parts"].items()]
        like = own[[not reason for reason in unlike]]
        row = {"method": name, "data sets": len(own), "test AUC": own["mean"].mean()}
        row |= {"paper AUC": like["paper"].mean(), "AUC difference": like["difference"].mean()}
        main = replace(key, protocol=results.protocol).name
        if main in results.keys:
            runs = results.runs[results.runs["method"].isin([name, main])]
            gains = paired_intervals(runs, main, "test_auc").drop(columns="n")
            row |= gains.rename(columns=INTERVAL_NAMES | {"mean": TO_MAIN}).loc[name].to_dict()
        rows.append(row)
    paper = ["paper AUC", "AUC difference"]
    columns = ["method", "data sets", "test AUC", *paper, TO_MAIN, CI_LOW, CI_HIGH]
    table = pd.DataFrame(rows, columns=columns)
    has_paper = table["paper AUC"].notna().any()
    return Table(table if has_paper else table.drop(columns=paper), KINDS)


def missing_table(results: ResultSet) -> Table:
    """Return the data sets left out of the comparison and the methods that lack them."""
    missing = results.coverage.missing.groupby(["group", "status"], sort=False)["method"]
    names = missing.agg(lambda own: _list_methods(list(own), results.methods))
    table = names.unstack("status").reindex(columns=["skipped", "failed", "not run"])
    table = table.reindex([group for group in results.groups if group in table.index])
    return Table(table.reset_index(names="data set"), KINDS)


def failure_table(results: ResultSet) -> Table:
    """Count the runs without a result by status and reason, the most frequent first.

    The column "which" lists the runs: methods on data sets, with their seeds.
    """
    rows = [
        (status, len(own), reason, "; ".join(_describe_runs(own)))
        for (status, reason), own in results.failed.groupby(["status", "reason"], sort=False)
    ]
    table = pd.DataFrame(rows, columns=["status", "runs", "reason", "which"])
    return Table(table.sort_values("runs", ascending=False, kind="stable"), KINDS)


TABLES = {
    "summary": summary_table,
    "paired_differences": difference_table,
    "c6_c7_queries": query_table,
    "c13_running_times": time_table,
    "reference": reference_table,
    "other_protocols": protocol_table,
    "missing_results": missing_table,
    "failed_runs": failure_table,
}
"""Tables of every report by file name; those of ablations are added where there are any."""


def _outcomes(results: ResultSet) -> pd.Series:
    outcomes = {gain.Index: outcome(gain) for gain in results.gains.itertuples()}
    return pd.Series(outcomes, dtype=object)


def _list_methods(methods: Sequence[str], compared: Sequence[str], most: int = 4) -> str:
    """List methods; a list of more than `most` is written "all but ..." if that is shorter."""
    others = [name for name in compared if name not in methods]
    if len(methods) > most and len(others) < len(methods):
        return f"all but {', '.join(others)}" if others else "all"
    return ", ".join(name for name in compared if name in methods)


def _describe_runs(failed: pd.DataFrame) -> list[str]:
    """Describe runs; methods that failed on the same data sets and seeds are grouped."""
    seeds = failed.groupby(["method", "dataset"], sort=False)["seed"].agg(
        lambda own: ", ".join(map(str, sorted(set(own))))
    )
    datasets = (
        seeds.reset_index()
        .groupby(["method", "seed"], sort=False)["dataset"]
        .agg(lambda own: ", ".join(sorted(own, key=str.lower)))
    )
    methods = datasets.reset_index().groupby(["dataset", "seed"], sort=False)["method"]
    return [
        f"{methods} on {names} (seed{'s' if ',' in numbers else ''} {numbers})"
        for (names, numbers), methods in methods.agg(", ".join).items()
    ]
