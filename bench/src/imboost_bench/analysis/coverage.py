"""Data sets for which all methods have results, and missing results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from imboost_bench.analysis.aggregate import reading_order

if TYPE_CHECKING:
    from pandas import DataFrame

# Methods with results on a smaller fraction of the data sets are not ranked: the comparison is
# restricted to data sets that all ranked methods have.
MIN_FRACTION = 0.5


@dataclass(frozen=True)
class Coverage:
    """The compared methods and the data sets for which all of them have results.

    Parameters
    ----------
    methods : list of str
        Names of the compared methods.
    too_few : dict
        Number of data sets of the methods with results on less than `MIN_FRACTION` of them.
    shared : list of str
        Data sets of which every compared method has all parts.
    missing : DataFrame
        The other data sets: the columns group, method and status ("skipped", "failed" or
        "not run"), one row per compared method that lacks the data set or a part of it.
    """

    methods: list[str]
    too_few: dict[str, int]
    shared: list[str]
    missing: DataFrame


def find_coverage(runs: DataFrame, failed: DataFrame) -> Coverage:
    """Find the data sets on which the methods of the successful `runs` can be compared.

    The runs without a result, `failed`, say why a method lacks a data set.
    """
    import pandas as pd

    n_groups = runs.groupby("method", sort=False)["group"].nunique()
    is_compared = n_groups >= MIN_FRACTION * n_groups.max()
    methods = list(n_groups.index[is_compared])
    parts = runs[["group", "dataset"]].drop_duplicates()
    wanted = parts.merge(pd.DataFrame({"method": methods}), how="cross")
    found = wanted.merge(runs[["method", "dataset"]].drop_duplicates(), how="left", indicator=True)
    missing = wanted[(found["_merge"] == "left_only").to_numpy()]
    reasons = failed.drop_duplicates(["method", "dataset"], keep="last")
    missing = missing.merge(reasons[["method", "dataset", "status"]], how="left")
    missing = missing.fillna({"status": "not run"})[["group", "method", "status"]]
    shared = sorted(set(parts["group"]) - set(missing["group"]), key=reading_order)
    too_few = n_groups[~is_compared].to_dict()
    return Coverage(methods, too_few, shared, missing.drop_duplicates())
