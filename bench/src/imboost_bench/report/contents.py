"""The tables of a report: summary, differences, rounds, queries, data sets, times, failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from imboost_bench.analysis.comparison import (
    METRICS,
    is_tabular,
    mean_over_seeds,
    paired_intervals,
    reading_order,
)
from imboost_bench.analysis.method_key import rows_unlike_paper
from imboost_bench.analysis.result_set import AblationTable, ResultSet
from imboost_bench.datasets.adbench import find_datasets, read_dataset
from imboost_bench.paper import paper_datasets, paper_rounds
from imboost_bench.report.tables import Kind, Table
from imboost_bench.run.query_protocol import ALL_OUTLIERS

CLEARLY_WORSE = 0.02
"""Decrease of the test AUC from one round to the next that counts as clearly worse."""

PAPER_TABLES = {
    "test_auc": ("C.4", "test AUC"),
    "test_ap": ("C.5", "test AP"),
    "train_auc": ("C.2", "training AUC"),
    "train_ap": ("C.3", "training AP"),
}
"""Number and title of the paper's table of each metric, in the order of the report."""

_METRICS = {"AUC": "test_auc", "AP": "test_ap"}
_TO_MAIN = "difference to the main protocol"
_INTERVALS = {"n": "data sets", "low": "95% CI low", "high": "95% CI high"}
_SIZES = ["rows", "columns", "outliers"]
_RUN = ["method", "group", "dataset", "seed"]


def report_tables(results: ResultSet) -> dict[str, Table]:
    """Return the tables of every report by file name."""
    tables = {
        "summary": summary_table(results),
        "paired_differences": difference_table(results),
        "c6_c7_queries": query_table(results),
        "c13_running_times": time_table(results),
        "other_protocols": protocol_table(results),
        "missing_results": missing_table(results),
        "failed_runs": failure_table(results),
        **round_tables(results),
    }
    for metric, (number, _) in PAPER_TABLES.items():
        name = f"{number.replace('C.', 'c')}_{metric}"
        tables[name] = figure_matrix(results, metric)
        tables[f"{name}_minus_paper"] = difference_matrix(results, metric)
    columns = ["method", "group", "n_parts", "metric", "mean", "std", "n_seeds"]
    columns += ["paper", "difference", "seconds"]
    names = {"group": "data set", "n_parts": "parts", "n_seeds": "seeds"}
    figures = results.figures.reset_index()[columns]
    tables["all_figures"] = Table(figures.rename(columns=names | {"seconds": "seconds per run"}))
    return tables


def summary_table(results: ResultSet) -> Table:
    """Return one row per method, the best first; the paper's columns only if it has figures."""
    ranking, runs = results.rankings["test_auc"], results.runs.groupby("method")
    n_seeds = results.figures["n_seeds"].groupby("method").agg(["min", "max"]).astype(str)
    is_even = n_seeds["min"] == n_seeds["max"]
    table = pd.DataFrame(index=pd.Index(results.methods, name="method"))
    table["data sets"] = runs["group"].nunique()
    table["seeds"] = n_seeds["min"].where(is_even, n_seeds["min"] + " to " + n_seeds["max"])
    for name, metric in _METRICS.items():
        table[f"test {name}"] = results.means(metric)["mean"]
        if any(results.keys[method].paper_column for method in results.methods):
            compared = results.means(metric, results.paper_groups)
            table[f"paper {name}"] = compared["paper"]
            table[f"{name} difference"] = compared["difference"]
        if name == "AUC":
            tables = [group for group in results.shared if is_tabular(group)]
            embeddings = [group for group in results.shared if not is_tabular(group)]
            if tables and embeddings:
                table["AUC, tables"] = results.means(metric, tables)["mean"]
                table["AUC, embeddings"] = results.means(metric, embeddings)["mean"]
            table["mean rank"], table["wins"] = ranking.ranks, ranking.wins
    table["seconds per run"] = runs["seconds"].mean()
    table[f"AUC vs {results.reference}"] = results.outcomes
    return Table(table.reset_index(), marked=results.reference)


def difference_table(results: ResultSet) -> Table:
    """Return the paired difference of every method to the reference, with its interval."""
    table = results.gains.rename(columns=_INTERVALS | {"mean": "difference"})
    return Table(table.assign(outcome=results.outcomes).reset_index(names="method"))


def query_table(results: ResultSet) -> Table:
    """Return IMBoost's query strategies round by round (tables C.6 and C.7)."""
    curves = results.curves(results.queries, results.query_groups)
    order = {name: at for at, name in enumerate(results.queries)}
    curves = curves.reset_index().sort_values("method", key=lambda own: own.map(order))
    keys = [results.keys[name] for name in curves["method"]]
    for column, statistic in (("paper", "mean"), ("paper std", "std")):
        papers = [paper_rounds(key.query, statistic) if key.is_plain else {} for key in keys]
        values = [own.get(at) for own, at in zip(papers, curves["round"], strict=True)]
        curves[column] = pd.Series(values, dtype=float)
    curves["difference"] = curves["mean"] - curves["paper"]
    curves["method"] = [key.query for key in keys]
    names = {"method": "query", "mean": "test AUC"}
    return Table(curves.astype({"round": int}).rename(columns=names))


def ablation_table(ablation: AblationTable) -> Table:
    """Return the test AUC for every value of a setting (tables C.8 to C.12)."""
    table = ablation.values.drop(columns="n").rename(columns=_INTERVALS | {"mean": "test AUC"})
    table.insert(0, ablation.ablation.symbol, [f"{value:g}" for value in table.index])
    return Table(table, marked=f"{ablation.ablation.default:g}")


def time_table(results: ResultSet) -> Table:
    """Return running times as ratios to the reference's (table C.13)."""
    seconds = f"seconds of {results.reference}"
    table = results.times.rename(columns={"host": "machine", "reference_seconds": seconds})
    if len(table[["device", "machine"]].drop_duplicates()) < 2:
        table = table.drop(columns="machine")
    kinds: dict[str, Kind] = {seconds: "number", "ratio": "ratio", "paper": "ratio"}
    return Table(table, kinds, marked=results.reference)


def protocol_table(results: ResultSet) -> Table:
    """Return the methods run under other protocols, and their differences to the main one."""
    rows = []
    for name, key in results.keys.items():
        if key.protocol == results.protocol:
            continue
        own = results.figures.loc[name].xs("test_auc", level="metric")
        share = key.protocol.outlier_share
        unlike = [rows_unlike_paper(group, share, n) for group, n in own["n_parts"].items()]
        like = own[[not reason for reason in unlike]]
        row = {"method": name, "data sets": len(own), "test AUC": own["mean"].mean()}
        row |= {"paper AUC": like["paper"].mean(), "AUC difference": like["difference"].mean()}
        main = key._replace(protocol=results.protocol).name
        if main in results.keys:
            runs = results.runs[results.runs["method"].isin([name, main])]
            gains = paired_intervals(runs, main, "test_auc").drop(columns="n")
            row |= gains.rename(columns=_INTERVALS | {"mean": _TO_MAIN}).loc[name].to_dict()
        rows.append(row)
    columns = ["method", "data sets", "test AUC", "paper AUC", "AUC difference", _TO_MAIN]
    table = pd.DataFrame(rows, columns=[*columns, "95% CI low", "95% CI high"])
    has_paper = table["paper AUC"].notna().any()
    return Table(table if has_paper else table.drop(columns=["paper AUC", "AUC difference"]))


def missing_table(results: ResultSet) -> Table:
    """Return the data sets left out of the comparison and the methods that lack them."""
    missing = results.coverage.missing.groupby(["group", "status"], sort=False)["method"]
    names = missing.agg(", ".join)
    table = names.unstack("status").reindex(columns=["skipped", "failed", "not run"])
    table = table.reindex([group for group in results.groups if group in table.index])
    return Table(table.reset_index(names="data set"))


def failure_table(results: ResultSet) -> Table:
    """Count the runs without a result by status and reason, the most frequent first."""
    failed = results.failed
    which = failed["method"] + " on " + failed["dataset"] + ", seed " + failed["seed"].astype(str)
    groups = failed.assign(which=which).groupby(["status", "reason"], sort=False)["which"]
    table = groups.agg(runs="size", which="; ".join).reset_index()
    table = table[["status", "runs", "reason", "which"]]
    return Table(table.sort_values("runs", ascending=False, kind="stable"))


def figure_matrix(results: ResultSet, metric: str) -> Table:
    """Return our figures, with means, ranks and wins on the shared data sets below."""
    methods = [*results.methods, *results.coverage.too_few]
    means, compared = (
        _shared_means(results, metric, groups) for groups in (None, results.paper_groups)
    )
    below = {"mean": means["mean"], "std over seeds": means["std"]}
    suffix = _paper_suffix(results)
    if suffix and compared["paper"].reindex(results.methods).notna().any():
        below[f"mean{suffix}"] = compared["mean"]
    below[f"mean in the paper{suffix}"] = compared["paper"]
    below |= {"mean rank": results.rankings[metric].ranks, "wins": results.rankings[metric].wins}
    summary = pd.DataFrame(below).T.reindex(columns=results.methods).dropna(how="all")
    kinds: dict[str, Kind] = dict.fromkeys(summary.index, "figure")
    kinds |= dict.fromkeys(summary.index.intersection(["mean rank", "wins"]), "number")
    frame = results.table(metric).reindex(index=results.groups, columns=methods)
    scale = (0.5, 1.0) if metric.endswith("auc") else (0.0, 1.0)  # chance to perfect
    frame = _with_summary(results, frame, summary)
    return Table(frame, {}, results.reference, kinds, scale)


def difference_matrix(results: ResultSet, metric: str) -> Table:
    """Return our figures minus the paper's; no rows if the paper has none of these methods."""
    methods = [method for method in results.methods if results.keys[method].paper_column]
    frame = results.table(metric, "difference").reindex(columns=methods).dropna(how="all")
    frame = frame.reindex([group for group in results.groups if group in frame.index])
    if frame.empty:
        return Table(frame)
    means = _shared_means(results, metric, results.paper_groups)["difference"].reindex(methods)
    summary = means.to_frame(f"mean{_paper_suffix(results)}").T
    kinds: dict[str, Kind] = dict.fromkeys(methods, "signed")
    rows: dict[str, Kind] = {summary.index[0]: "signed"}
    frame, largest = _with_summary(results, frame, summary), 0.3  # with full shade
    return Table(frame, kinds, results.reference, rows, (0.0, largest))


def row_names(results: ResultSet, groups: Sequence[str]) -> list[str]:
    """Name data sets with their parts; not all methods have *, the paper has other rows of †."""
    n_parts = results.figures["n_parts"].groupby("group").agg(["min", "max"])
    names = []
    for group in groups:
        low, high = n_parts.loc[group]
        parts = f" ({high if low == high else f'{low} to {high}'} parts)" if high > 1 else ""
        marks = ["*"] if group not in results.shared else []
        marks += ["†"] if group in results.unlike_paper else []
        names.append(" ".join([group + parts, *marks]))
    return names


def _with_summary(results: ResultSet, frame: pd.DataFrame, below: pd.DataFrame) -> pd.DataFrame:
    named = frame.set_axis(row_names(results, frame.index))
    return pd.concat([named, below]).reset_index(names="data set")


def _shared_means(
    results: ResultSet, metric: str, groups: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return the means over the shared data sets or some of them; NaN without shared ones."""
    means = results.means(metric, groups)
    return means if results.shared else means * float("nan")


def _paper_suffix(results: ResultSet) -> str:
    """Return what names a mean over `ResultSet.paper_groups` if these are not all data sets."""
    is_part = len(results.paper_groups) < len(results.shared)
    return ", like for like" if is_part and results.is_like_for_like else ""


def round_tables(results: ResultSet) -> dict[str, Table]:
    """Return the tables by round: means, differences to the reference, waiting times, falls."""
    is_shared = results.rounds["group"].isin(results.shared)
    rounds = results.rounds[results.rounds["method"].isin(results.methods) & is_shared]
    columns = _round_columns(rounds)
    tables = {}
    for name, metric in _METRICS.items():
        file_name = f"round_by_round_{name.lower()}"
        tables[file_name] = _mean_table(results, columns, metric)
        tables[f"{file_name}_differences"] = _round_differences(results, columns, metric)
    waits = _waiting_table(rounds[rounds["method"] == results.reference])
    return tables | {"waiting_times": waits, "clearly_worse_rounds": _fall_table(results, rounds)}


def _round_columns(rounds: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return results after each round that all runs have, and their mean from round 1 on."""
    n_runs = rounds.groupby("round").size()
    numbers = sorted(n_runs.index[n_runs == len(rounds[_RUN].drop_duplicates())])
    columns = {f"round {number}": rounds[rounds["round"] == number] for number in numbers}
    answered = [number for number in numbers if number]
    if answered:
        later = rounds[rounds["round"].isin(answered)]
        means = later.groupby(_RUN, as_index=False)[[*METRICS, "seconds"]].mean()
        columns[f"mean of rounds {answered[0]} to {answered[-1]}"] = means
    return columns


def _mean_table(results: ResultSet, columns: dict[str, pd.DataFrame], metric: str) -> Table:
    methods = pd.Index(results.methods if columns else [], name="method")
    table = pd.DataFrame(index=methods)
    for name, runs in columns.items():
        means = mean_over_seeds(runs, "method")["mean"].xs(metric, level="metric")
        table[name] = means.groupby("method").mean()
    return Table(table.reset_index(), marked=results.reference)


def _round_differences(results: ResultSet, columns: dict[str, pd.DataFrame], metric: str) -> Table:
    table = pd.DataFrame(index=pd.Index(results.methods, name="method"))
    kinds: dict[str, Kind] = {}
    for name, runs in columns.items():
        gains = paired_intervals(runs, results.reference, metric)
        table["data sets"], table[name] = gains["n"], gains["mean"]
        table[f"± {name}"] = (gains["high"] - gains["low"]) / 2
        kinds |= {name: "signed", f"± {name}": "margin"}
    table = table[table["data sets"] > 0] if columns else table.iloc[:0]
    return Table(table.reset_index(), kinds)


def _waiting_table(rounds: pd.DataFrame) -> Table:
    """Return the seconds until the first question and between rounds, by data set."""
    rounds = rounds.sort_values([*_RUN, "round"])
    by_run = rounds.groupby(_RUN)
    waits = rounds.assign(
        first=rounds["seconds"].where(rounds["round"] == 0),
        wait=by_run["seconds"].diff().where(by_run["round"].diff() == 1),
    )
    by_data_set = waits.groupby("dataset")
    table = by_data_set[["n_train", "n_features"]].last()
    table = table.set_axis(["rows", "columns"], axis=1)
    table["before the first question"] = by_data_set["first"].mean()
    table[["between rounds", "longest"]] = by_data_set["wait"].agg(["mean", "max"])
    # Leave out data sets with runs whose first round or waits are not known.
    has_first = by_data_set["first"].count() == by_data_set["seed"].nunique()
    table = table[has_first & table["between rounds"].notna()]
    return Table(table.reset_index(names="data set"), {"longest": "number"})


def _fall_table(results: ResultSet, rounds: pd.DataFrame) -> Table:
    """Count the rounds after which a method was clearly worse than one round before."""
    by_round = ["method", "dataset", "round"]
    n_runs = rounds.groupby(by_round[:2])["seed"].transform("nunique")
    is_complete = rounds.groupby(by_round)["seed"].transform("nunique") == n_runs
    curves = rounds[is_complete].groupby(by_round)["test_auc"].mean()
    changes = curves.groupby(by_round[:2]).diff().dropna()
    table = (changes < -CLEARLY_WORSE).groupby("method").agg(["size", "sum", "mean"])
    table = table.set_axis(["data sets and rounds", "clearly worse", "share"], axis=1)
    table = table.reindex([name for name in results.methods if name in table.index])
    return Table(table.reset_index(names="method"), {"share": "figure"}, results.reference)


def data_set_table(folder: Path | str) -> Table:
    """Return the sizes of the data sets in a folder, beside the paper's (table C.1).

    Parts with the same numbers of rows and outliers count once, as in the paper's table.
    """
    files = find_datasets(folder).values()
    sizes = [(own.n_rows, own.n_features, own.n_outliers) for own in map(read_dataset, files)]
    parts = pd.DataFrame(sizes, columns=_SIZES)
    by_group = parts.groupby([file.group for file in files])
    is_alike = by_group[["rows", "outliers"]].nunique().max(axis=1) == 1
    table = by_group.max()
    table.loc[~is_alike, ["rows", "outliers"]] = by_group[["rows", "outliers"]].sum()
    table.insert(0, "parts", by_group.size())
    table["share"] = table["outliers"] / table["rows"]
    table = table.sort_index(key=lambda names: names.map(reading_order))
    papers = paper_datasets().reindex(table.index.str.lower()).set_axis(table.index)
    shown = table.join(papers.add_prefix("paper's "))
    shown["differs in"] = [difference(str(name), size) for name, size in table.iterrows()]
    return Table(shown.reset_index(names="data set"))


def difference(group: str, size: Mapping[str, float]) -> str:
    """Say what differs from the paper's table and runs; "" if nothing does."""
    if group.lower() not in paper_datasets().index:
        return "not in the paper"
    paper = paper_datasets().loc[group.lower()]
    reasons = [rows_unlike_paper(group, ALL_OUTLIERS, int(size["parts"]))]
    reasons += [f"{paper[of]:,.0f} {of} in the paper" for of in _SIZES if size[of] != paper[of]]
    return "; ".join(filter(None, reasons))
