"""Who is better than whom, and whether that is more than chance.

A data set is the unit throughout: seeds and the parts of a set are averaged first, since
they repeat the same question.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from imboost.benchmark.analysis.method_tables import MethodTable

LEVEL = 0.95
"""Of the intervals; the tests are at 1 - LEVEL."""


def row_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Rank the columns of every row, 1 for the highest; equal ones share their mean rank.

    >>> row_ranks([[0.9, 0.7, 0.9]])
    array([[1.5, 3. , 1.5]])
    """
    ranks: NDArray[np.float64] = stats.rankdata(-np.asarray(values, dtype=float), axis=1)
    return ranks


def win_counts(values: ArrayLike) -> NDArray[np.float64]:
    """Count the rows in which each column is highest; a win of several is shared out.

    >>> win_counts([[0.9, 0.7, 0.9], [0.1, 0.2, 0.3]])
    array([0.5, 0. , 1.5])
    """
    table = np.asarray(values, dtype=float)
    is_best = table == table.max(axis=1, keepdims=True)
    wins: NDArray[np.float64] = (is_best / is_best.sum(axis=1, keepdims=True)).sum(axis=0)
    return wins


def nemenyi_difference(n_methods: int, n_sets: int) -> float:
    """Return how far two mean ranks must be apart to differ at 0.05 (Nemenyi's test).

    The formula is q sqrt(k (k + 1) / 6 N), q a quantile of the studentized range by sqrt(2).

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.

    >>> round(nemenyi_difference(4, 14), 2)
    1.25
    """
    quantile = float(stats.studentized_range.ppf(LEVEL, n_methods, math.inf)) / math.sqrt(2)
    return quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_sets))


def friedman_p(values: ArrayLike) -> float:
    """Return how likely ranks as unequal are if all columns are alike; NaN if it cannot be said.

    Friedman's test needs three columns and two rows.
    """
    ranks = row_ranks(values)
    n_rows, n_columns = ranks.shape
    if n_columns < 3 or n_rows < 2 or not np.ptp(ranks, axis=1).any():
        return math.nan
    return float(stats.friedmanchisquare(*ranks.T).pvalue)


def alike(ranks: Sequence[float], critical: float) -> list[tuple[float, float]]:
    """Return the widest stretches of mean ranks, each of methods that do not differ.

    >>> alike([1.0, 1.5, 2.2, 4.0], 1.0)
    [(1.0, 1.5), (1.5, 2.2)]
    """
    ordered = sorted(ranks)
    stretches: list[tuple[float, float]] = []
    for start in ordered:
        end = max(rank for rank in ordered if rank <= start + critical)
        if end > start and (not stretches or end > stretches[-1][1]):
            stretches.append((start, end))
    return stretches


@dataclass(frozen=True)
class Interval:
    """A mean over data sets and the interval that holds the true one 95 times in a hundred."""

    mean: float
    low: float = math.nan
    high: float = math.nan
    n: int = 1

    @property
    def half_width(self) -> float:
        """How far the interval reaches to either side of the mean."""
        return (self.high - self.low) / 2

    @property
    def excludes_zero(self) -> bool:
        """Whether the mean differs from zero by more than chance; never with one set."""
        return self.low > 0 or self.high < 0


def mean_interval(sample: Iterable[float]) -> Interval:
    """Return the mean of a sample with Student's t interval; a single value has none.

    >>> interval = mean_interval([1.0, 2.0, 3.0])
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.484, 4.484)
    """
    values = np.array(list(sample), dtype=float)
    n = len(values)
    mean = float(values.mean()) if n else math.nan
    if n < 2:
        return Interval(mean, n=n)
    t = float(stats.t.ppf((1 + LEVEL) / 2, n - 1))
    half = t * float(values.std(ddof=1)) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, n)


def paired_interval(method: MethodTable, other: MethodTable, metric: str) -> Interval:
    """Return how far `method` lies above `other`, with its interval over data sets.

    Only runs that both have, of the same data set and seed, are subtracted; the differences
    of a set are averaged.
    """
    by_group: dict[str, list[float]] = defaultdict(list)
    for run in method.runs.keys() & other.runs.keys():
        own, others = method.runs[run], other.runs[run]
        by_group[own.group].append(getattr(own, metric) - getattr(others, metric))
    return mean_interval(float(np.mean(by_group[group])) for group in sorted(by_group))


@dataclass(frozen=True)
class Ranking:
    """Methods ranked on the data sets that all of them have.

    Parameters
    ----------
    names : tuple of str
        The methods.
    n_sets : int
    ranks, wins : tuple of float
        Mean rank, and data sets won, of every method.
    friedman : float
        p value of Friedman's test; NaN if there is too little to test.
    critical : float
        Nemenyi's critical difference of mean ranks; NaN likewise.
    """

    names: tuple[str, ...]
    n_sets: int
    ranks: tuple[float, ...]
    wins: tuple[float, ...]
    friedman: float
    critical: float

    @classmethod
    def of(cls, methods: Sequence[MethodTable], groups: Sequence[str], metric: str) -> Ranking:
        """Rank methods by a metric on data sets that each of them has."""
        names = tuple(method.name for method in methods)
        values = [[m.sets[group].cells[metric].mean for m in methods] for group in groups]
        if not groups or np.isnan(values).any():
            nothing = (math.nan,) * len(names)
            return cls(names, len(groups), nothing, nothing, math.nan, math.nan)
        p = friedman_p(values)
        return cls(
            names,
            len(groups),
            tuple(row_ranks(values).mean(axis=0).tolist()),
            tuple(win_counts(values).tolist()),
            p,
            math.nan if math.isnan(p) else nemenyi_difference(len(names), len(groups)),
        )
