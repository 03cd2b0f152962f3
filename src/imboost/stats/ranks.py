"""Ranks of values among the training rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RankTransform:
    """Replace values by their ranks among the training rows, column by column.

    Parameters
    ----------
    sorted_columns : array of shape (n_rows, n_columns)
        The training values, each column in ascending order.

    Examples
    --------
    >>> ranks = RankTransform.fit(np.array([[0.0], [1.0], [2.0], [3.0]]))
    >>> ranks.transform(np.array([[-5.0], [1.0], [1.5], [9.0]])).ravel().tolist()
    [0.0, 0.375, 0.5, 1.0]
    """

    sorted_columns: Floats

    @classmethod
    def fit(cls, values: Floats) -> RankTransform:
        """Sort the training values, an array of shape (n_rows, n_columns)."""
        return cls(np.sort(values, axis=0))

    def transform(self, values: Floats) -> Floats:
        """Return the fraction of training rows below each value; ties count half."""
        columns = zip(values.T, self.sorted_columns.T, strict=True)
        ranks = np.column_stack([mid_ranks(column, known) for column, known in columns])
        return ranks / len(self.sorted_columns)


def mid_ranks(values: Floats, sorted_values: Floats) -> Floats:
    """Return how many sorted values are smaller than each value; ties count half."""
    below = np.searchsorted(sorted_values, values, side="left")
    not_above = np.searchsorted(sorted_values, values, side="right")
    return np.asarray((below + not_above) / 2)
