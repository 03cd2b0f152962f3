"""Ranks of values among the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

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
    values, ranks : array
        The distinct training values of every column in ascending order, and their ranks, one
        column after the other.
    starts : array of shape (n_columns + 1,)
        Where the columns begin in these arrays, and the end.

    Examples
    --------
    >>> ranks = RankTransform.fit(np.array([[0.0], [1.0], [1.0], [3.0]]))
    >>> ranks.transform(np.array([[-5.0], [1.0], [2.0], [9.0]])).ravel().tolist()
    [0.125, 0.5, 0.6875, 0.875]
    """

    values: Floats
    ranks: Floats
    starts: NDArray[np.int64]

    @classmethod
    def fit(cls, X: Floats) -> RankTransform:
        """Rank the training values, an array of shape (n_rows, n_columns)."""
        values, ranks = [], []
        for column in X.T:
            distinct, counts = np.unique(column, return_counts=True)
            kept = np.linspace(0, len(distinct) - 1, min(len(distinct), MAX_KNOTS)).astype(int)
            values.append(distinct[kept])
            ranks.append(((np.cumsum(counts) - counts / 2) / len(X))[kept])
        starts = np.cumsum([0, *(len(column) for column in values)])
        return cls(np.concatenate(values), np.concatenate(ranks), starts)

    def transform(self, X: Floats) -> Floats:
        """Return the rank of every value, above 0 and below 1."""
        columns = [slice(*ends) for ends in pairwise(self.starts)]
        return np.column_stack(
            [
                np.interp(values, self.values[column], self.ranks[column])
                for values, column in zip(X.T, columns, strict=True)
            ]
        )


def mid_ranks(values: Floats, sorted_values: Floats) -> Floats:
    """Return how many sorted values are smaller than each value; ties count half."""
    below = np.searchsorted(sorted_values, values, side="left")
    not_above = np.searchsorted(sorted_values, values, side="right")
    return np.asarray((below + not_above) / 2)
