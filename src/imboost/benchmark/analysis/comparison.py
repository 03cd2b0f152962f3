"""Paired differences with confidence intervals, mean ranks and their significance.

Data sets are the statistical units: seeds and the parts of a data set are averaged first,
because they are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy import stats

if TYPE_CHECKING:
    from pandas import DataFrame, Series

CONFIDENCE = 0.95
"""Level of the confidence intervals; tests have the level 1 - CONFIDENCE."""


def mean_intervals(sample: DataFrame) -> DataFrame:
    """Return the mean of every column with Student's t interval; NaN for a single value.

    >>> import pandas as pd
    >>> mean_intervals(pd.DataFrame({"a": [1.0, 2.0, 3.0]})).round(3)
       n  mean    low   high
    a  3   2.0 -0.484  4.484
    """
    import pandas as pd

    n, mean = sample.count(), sample.mean()
    half = stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) * sample.sem()
    return pd.DataFrame({"n": n, "mean": mean, "low": mean - half, "high": mean + half})


def paired_intervals(runs: DataFrame, reference: str, metric: str) -> DataFrame:
    """Return the mean difference of every other method to the reference, with its interval.

    Runs are paired by data set and seed; the differences of a data set are averaged.

    Parameters
    ----------
    runs : DataFrame
        One row per run.
    reference : str
        Name of the method that is subtracted.
    metric : str
    """
    runs = runs.pivot(index=["group", "dataset", "seed"], columns="method", values=metric)
    differences = runs.drop(columns=reference).sub(runs[reference], axis=0)
    return mean_intervals(differences.groupby("group").mean())


def outcome(interval: Any) -> str:
    """Return whether a row of `paired_intervals` is better or worse than the reference."""
    if math.isnan(interval.low):
        return "too few data sets"
    if interval.low <= 0 <= interval.high:
        return "not distinguishable"
    return "better" if interval.mean > 0 else "worse"


def win_counts(values: DataFrame) -> Series:
    """Count the rows in which each column is highest; ties share the win.

    >>> import pandas as pd
    >>> win_counts(pd.DataFrame({"a": [0.9, 0.1], "b": [0.7, 0.2], "c": [0.9, 0.3]})).to_dict()
    {'a': 0.5, 'b': 0.0, 'c': 1.5}
    """
    is_best = values.eq(values.max(axis=1), axis=0)
    return is_best.div(is_best.sum(axis=1), axis=0).sum()


def nemenyi_difference(n_methods: int, n_data_sets: int) -> float:
    """Return the critical difference of mean ranks in Nemenyi's test.

    It is q sqrt(k (k + 1) / 6 N), with q a quantile of the studentized range over sqrt(2).

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.

    >>> round(nemenyi_difference(4, 14), 2)
    1.25
    """
    quantile = float(stats.studentized_range.ppf(CONFIDENCE, n_methods, math.inf)) / math.sqrt(2)
    return quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_data_sets))


def indistinguishable(ranks: Iterable[float], critical: float) -> list[tuple[float, float]]:
    """Return the maximal intervals of mean ranks that are no wider than the critical difference.

    >>> indistinguishable([1.0, 1.5, 2.2, 4.0], 1.0)
    [(1.0, 1.5), (1.5, 2.2)]
    """
    ordered = sorted(ranks)
    intervals: list[tuple[float, float]] = []
    for start in ordered:
        end = max(rank for rank in ordered if rank <= start + critical)
        if end > start and (not intervals or end > intervals[-1][1]):
            intervals.append((start, end))
    return intervals


@dataclass(frozen=True)
class Ranking:
    """Methods ranked on the data sets for which all of them have results.

    Parameters
    ----------
    ranks, wins : Series
        Mean rank and number of data sets won, by method; rank 1 is best.
    friedman : float
        p value of the Friedman test; NaN with fewer than three methods or two data sets.
    critical : float
        Nemenyi's critical difference of mean ranks; NaN likewise.
    """

    ranks: Series
    wins: Series
    friedman: float = math.nan
    critical: float = math.nan

    @classmethod
    def of(cls, values: DataFrame) -> Ranking:
        """Rank the columns of a table of data sets by methods; higher values are better."""
        n_data_sets, n_methods = values.shape
        if values.empty or values.isna().any(axis=None):
            missing = values.mean() * math.nan
            return cls(missing, missing)
        ranks = values.rank(axis=1, ascending=False)
        ranking = cls(ranks.mean(), win_counts(values))
        if n_methods < 3 or n_data_sets < 2 or (ranks.nunique(axis=1) == 1).all():
            return ranking
        friedman = float(stats.friedmanchisquare(*ranks.to_numpy().T).pvalue)
        critical = nemenyi_difference(n_methods, n_data_sets)
        return cls(ranking.ranks, ranking.wins, friedman, critical)
