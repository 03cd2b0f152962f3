"""Scaling of tables, fitted on the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LIMIT = 1000.0
"""Values further outside the training range than this many ranges count as that far."""


@dataclass(frozen=True)
class UnitScaling:
    """The map ``(x - offset) * factor`` that takes every training column to [0, 1].

    A constant column maps to 0, and a later value that differs from the constant by d to d
    (in units of the constant's own size, where that is larger than 1). Values outside the
    training range stay outside the unit interval, up to `limit`, so that they can look as
    odd as they are while the arithmetic stays finite.
    """

    offset: NDArray[np.float64]
    factor: NDArray[np.float64]
    limit: float = LIMIT

    @classmethod
    def fit(cls, table: NDArray[Any]) -> UnitScaling:
        """Read smallest and largest value of every column of `table` (rows, features).

        Missing values (nan) are left out; a column without any other counts as constantly 0.
        """
        low = np.nan_to_num(np.fmin.reduce(table, axis=0).astype(np.float64))
        high = np.nan_to_num(np.fmax.reduce(table, axis=0).astype(np.float64))
        # Halved before subtracting: the range of float64 columns may itself overflow.
        half_range = high / 2 - low / 2
        constant = half_range <= 0
        half_range[constant] = np.maximum(np.abs(low[constant]), 1.0) / 2
        # So wide that twice the factor is still a float32, see `scale_values`.
        narrowest = 1.0 / float(np.finfo(np.float32).max)
        return cls(offset=low, factor=0.5 / np.maximum(half_range, narrowest))

    def apply(self, table: NDArray[Any]) -> NDArray[np.float64]:
        """Scale a table of the same columns.

        >>> UnitScaling.fit(np.array([[0.0], [10.0]])).apply(np.array([[5.0], [20.0]]))
        array([[0.5],
               [2. ]])
        """
        values = np.asarray(table, dtype=np.float64)
        with np.errstate(over="ignore"):  # what overflows is beyond the limit anyway
            scaled: NDArray[np.float64] = scale_values(values, self.offset, self.factor)
        return np.clip(scaled, -self.limit, self.limit)

    def invert(self, scaled: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the table that was scaled."""
        return np.asarray(self.offset + scaled / self.factor)


FARTHEST = 10.0
"""Values further from a column's mean than this many standard deviations count as that far."""


@dataclass(frozen=True)
class StandardScaling:
    """The map that takes every training column to mean 0 and standard deviation 1.

    A constant column maps to 0. For tables of moderate values, such as those scaled by
    `UnitScaling`.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @classmethod
    def fit(cls, table: NDArray[np.float64]) -> StandardScaling:
        """Read mean and standard deviation of every column of `table` (rows, features)."""
        deviation = table.std(axis=0)
        return cls(table.mean(axis=0), np.where(deviation > 0, deviation, 1.0))

    def apply(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scale a table of the same columns.

        >>> StandardScaling.fit(np.array([[1.0], [3.0]])).apply(np.array([[3.0], [99.0]]))
        array([[ 1.],
               [10.]])
        """
        return np.asarray(np.clip((table - self.mean) / self.deviation, -FARTHEST, FARTHEST))


def scale_values(values: Any, offset: Any, factor: Any) -> Any:
    """Return ``(values - offset) * factor`` of numpy arrays or torch tensors.

    Halved before subtracting, as in `UnitScaling.fit`, since the difference may overflow;
    halving and doubling change no digit.
    """
    return (values * 0.5 - offset * 0.5) * (factor * 2)
