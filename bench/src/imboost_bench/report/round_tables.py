"""Tables by round: means, differences to the reference, waiting times, decreases of the AUC."""

from __future__ import annotations

import pandas as pd

from imboost_bench.analysis.aggregate import METRICS, mean_over_seeds, of_metric
from imboost_bench.analysis.comparison import paired_intervals
from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.report.formatting import Kind
from imboost_bench.report.report_table import Table

CLEARLY_WORSE = 0.02
"""Decrease of the test AUC from one round to the next that counts as clearly worse."""

_RUN = ["method", "group", "dataset", "seed"]


def round_tables(results: ResultSet) -> dict[str, Table]:
    """Return the tables by file name."""
    is_shared = results.rounds["group"].isin(results.shared)
    rounds = results.rounds[results.rounds["method"].isin(results.methods) & is_shared]
    columns = _round_columns(rounds)
    tables = {}
    for name in ("auc", "ap"):
        metric = f"test_{name}"
        tables[f"round_by_round_{name}"] = _mean_table(results, columns, metric)
        tables[f"round_by_round_{name}_differences"] = _difference_table(results, columns, metric)
    return tables | {
        "waiting_times": _waiting_table(rounds[rounds["method"] == results.reference]),
        "clearly_worse_rounds": _worse_round_table(results, rounds),
    }


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
    means = {
        name: of_metric(mean_over_seeds(runs, "method"), metric)["mean"].groupby("method").mean()
        for name, runs in columns.items()
    }
    index = pd.Index(results.methods if means else [], name="method")
    kinds: dict[str, Kind] = dict.fromkeys(means, "figure")
    return Table(pd.DataFrame(means, index).reset_index(), kinds, marked=results.reference)


def _difference_table(results: ResultSet, columns: dict[str, pd.DataFrame], metric: str) -> Table:
    table = pd.DataFrame(index=pd.Index(results.methods, name="method"))
    kinds: dict[str, Kind] = {"data sets": "count"}
    for name, runs in columns.items():
        gains = paired_intervals(runs, results.reference, metric)
        table["data sets"] = gains["n"]
        table[name] = gains["mean"]
        table[f"± {name}"] = (gains["high"] - gains["low"]) / 2
        kinds |= {name: "signed", f"± {name}": "margin"}
    if columns:
        table = table[table["data sets"] > 0].astype({"data sets": int})
    return Table((table if columns else table.iloc[:0]).reset_index(), kinds)


def _waiting_table(rounds: pd.DataFrame) -> Table:
    """Return the seconds until the first question and between rounds, by data set."""
    rounds = rounds.sort_values([*_RUN, "round"])
    by_run = rounds.groupby(_RUN)
    waits = rounds.assign(
        first=rounds["seconds"].where(rounds["round"] == 0),
        wait=by_run["seconds"].diff().where(by_run["round"].diff() == 1),
    )
    names = ["rows", "columns", "before the first question", "between rounds", "longest"]
    by_data_set = waits.groupby("dataset")
    table = by_data_set.agg(
        n_rows=("n_train", "last"),
        n_columns=("n_features", "last"),
        first=("first", "mean"),
        mean=("wait", "mean"),
        longest=("wait", "max"),
    ).set_axis(names, axis=1)
    # Leave out data sets with runs whose first round or waits are not known.
    has_first = by_data_set["first"].count() == by_data_set["seed"].nunique()
    table = table[has_first & table["between rounds"].notna()]
    kinds: dict[str, Kind] = {"rows": "count", "columns": "count"}
    kinds |= dict.fromkeys(names[2:], "number")
    return Table(table.reset_index(names="data set"), kinds)


def _worse_round_table(results: ResultSet, rounds: pd.DataFrame) -> Table:
    """Count the rounds after which a method was clearly worse than one round before."""
    by_data_set = rounds.groupby(["method", "dataset"])
    n_runs = by_data_set["seed"].transform("nunique")
    by_round = ["method", "dataset", "round"]
    is_complete = rounds.groupby(by_round)["seed"].transform("nunique") == n_runs
    curves = rounds[is_complete].groupby(by_round)["test_auc"].mean()
    changes = curves.groupby(["method", "dataset"]).diff().dropna()
    table = (changes < -CLEARLY_WORSE).groupby("method").agg(["size", "sum", "mean"])
    table = table.set_axis(["data sets and rounds", "clearly worse", "share"], axis=1)
    table = table.reindex([name for name in results.methods if name in table.index])
    kinds: dict[str, Kind] = {"data sets and rounds": "count", "clearly worse": "count"}
    kinds["share"] = "figure"
    return Table(table.reset_index(names="method"), kinds, marked=results.reference)
