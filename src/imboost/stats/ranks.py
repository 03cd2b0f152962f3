"""Ranks of values among the training rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_KNOTS = 10_000  # values of a column between which ranks are interpolated


@dataclass(frozen=True, eq=False)
class RankTransform:
    """Replace values by their ranks among the training rows, column by column.

    The rank of a training value is the fraction of training rows below it, where ties count
    half. Ranks of other values are interpolated, so that a small change of a value never makes
    a large change of its rank.

    Parameters
    ----------
    values, ranks : list of arrays
        The distinct training values of every column in ascending order, and their ranks.

    Examples
    --------
    >>> ranks = RankTransform.fit(np.array([[0.0], [1.0], [1.0], [3.0]]))
    >>> ranks.transform(np.array([[-5.0], [1.0], [2.0], [9.0]])).ravel().tolist()
    [0.125, 0.5, 0.6875, 0.875]
    """

    values: list[Floats]
    ranks: list[Floats]

    @classmethod
    def fit(cls, X: Floats) -> RankTransform:
        """Rank the training values, an array of shape (n_rows, n_columns)."""
        values, ranks = [], []
        for column in X.T:
            distinct, counts = np.unique(column, return_counts=True)
            kept = np.linspace(0, len(distinct) - 1, min(len(distinct), MAX_KNOTS)).astype(int)
            values.append(distinct[kept])
            ranks.append(((np.cumsum(counts) - counts / 2) / len(X))[kept])
        return cls(values, ranks)

    def transform(self, X: Floats) -> Floats:
        """Return the rank of every value, above 0 and below 1."""
        columns = zip(X.T, self.values, self.ranks, strict=True)
        return np.column_stack([np.interp(*column) for column in columns])


def mid_ranks(values: Floats, sorted_values: Floats) -> Floats:
    """Return how many sorted values are smaller than each value; ties count half."""
    below = np.searchsorted(sorted_values, values, side="left")
    not_above = np.searchsorted(sorted_values, values, side="right")
    return np.asarray((below + not_above) / 2)
