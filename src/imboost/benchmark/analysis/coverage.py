"""Data sets for which all methods have results, missing results, and failed runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from imboost.benchmark.analysis.aggregate import reading_order

if TYPE_CHECKING:
    from pandas import DataFrame

MIN_SHARE = 0.5
"""Methods with results on a smaller fraction of the data sets are not ranked: the comparison is
restricted to data sets that all ranked methods have."""


@dataclass(frozen=True)
class Coverage:
    """The compared methods and the data sets for which all of them have results.

    Parameters
    ----------
    methods : list of str
        Names of the compared methods.
    too_few : list of str
        Methods with results on less than `MIN_SHARE` of the data sets.
    shared : list of str
        Data sets of which every compared method has all parts.
    missing : DataFrame
        The other data sets: the columns group, method and status ("skipped", "failed" or
        "not run"), one row per compared method that lacks the data set or a part of it.
    """

    methods: list[str]
    too_few: list[str]
    shared: list[str]
    missing: DataFrame


def find_coverage(runs: DataFrame, failed: DataFrame) -> Coverage:
    """Find the data sets on which methods can be compared.

    Parameters
    ----------
    runs : DataFrame
        The successful runs of all methods that may be compared.
    failed : DataFrame
        The runs without a result.
    """
    import pandas as pd

    n_groups = runs.groupby("method", sort=False)["group"].nunique()
    is_compared = n_groups >= MIN_SHARE * n_groups.max()
    methods = list(n_groups.index[is_compared])
    parts = runs[["group", "dataset"]].drop_duplicates()
    wanted = parts.merge(pd.DataFrame({"method": methods}), how="cross")
    present = pd.MultiIndex.from_frame(runs[["method", "dataset"]])
    missing = wanted[~pd.MultiIndex.from_frame(wanted[["method", "dataset"]]).isin(present)]
    reasons = failed.drop_duplicates(["method", "dataset"], keep="last")
    missing = missing.merge(reasons[["method", "dataset", "status"]], how="left")
    missing = missing.fillna({"status": "not run"})[["group", "method", "status"]]
    shared = sorted(set(parts["group"]) - set(missing["group"]), key=reading_order)
    too_few = list(n_groups.index[~is_compared])
    return Coverage(methods, too_few, shared, missing.drop_duplicates())


def failed_runs(failed: DataFrame) -> DataFrame:
    """Count the runs without a result by status and reason, the most frequent first.

    The column "which" lists the runs: methods on data sets, with their seeds.
    """
    import pandas as pd

    rows = [
        {"status": status, "runs": len(own), "reason": reason, "which": "; ".join(_which(own))}
        for (status, reason), own in failed.groupby(["status", "reason"], sort=False)
    ]
    table = pd.DataFrame(rows, columns=["status", "runs", "reason", "which"])
    return table.sort_values("runs", ascending=False, kind="stable")


def _which(failed: DataFrame) -> list[str]:
    """Describe runs; methods that failed on the same data sets and seeds come together."""
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
