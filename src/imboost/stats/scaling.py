"""Scaling of tables, fitted on the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats

MAX_MINMAX_SCALED = 1000.0  # in widths of the training range; larger values are clipped
MAX_STANDARD_SCALED = 10.0  # in standard deviations; larger values are clipped
MAD_TO_STD = 1.4826  # standard deviation divided by MAD, for a normal distribution


@dataclass(frozen=True)
class MinMaxScaling:
    """Scale every training column to [0, 1] by ``(x - offset) * factor``.

    A constant column maps to 0, and a new value to its difference from the constant (relative to
    the constant, if its absolute value is larger than 1). Values outside the
    training range stay outside the unit interval and are clipped at `limit`, which keeps the
    arithmetic finite.
    """

    offset: Floats
    factor: Floats
    limit: float = MAX_MINMAX_SCALED

    @classmethod
    def fit(cls, table: NDArray[Any]) -> MinMaxScaling:
        """Find the smallest and largest value of every column of `table` (rows, features).

        Missing values (nan) are ignored; a column of missing values alone counts as constant 0.
        """
        low = np.nan_to_num(np.fmin.reduce(table, axis=0).astype(np.float64))
        high = np.nan_to_num(np.fmax.reduce(table, axis=0).astype(np.float64))
        # Halved before subtracting: the range of float64 columns may itself overflow.
        half_range = high / 2 - low / 2
        constant = half_range <= 0
        half_range[constant] = np.maximum(np.abs(low[constant]), 1.0) / 2
        # The smallest range for which twice the factor is a float32, see `scale_values`.
        narrowest = 1.0 / float(np.finfo(np.float32).max)
        return cls(offset=low, factor=0.5 / np.maximum(half_range, narrowest))

    def transform(self, table: NDArray[Any]) -> Floats:
        """Scale a table of the same columns.

        >>> MinMaxScaling.fit(np.array([[0.0], [10.0]])).transform([[5.0], [20.0]]).ravel()
        array([0.5, 2. ])
        """
        with np.errstate(over="ignore"):  # values that overflow are clipped below
            scaled: Floats = scale_values(
                np.asarray(table, dtype=np.float64), self.offset, self.factor
            )
        return np.clip(scaled, -self.limit, self.limit, out=scaled)

    def inverse_transform(self, scaled: NDArray[Any]) -> Floats:
        """Return the table in its original units."""
        return np.asarray(self.offset + scaled / self.factor)


@dataclass(frozen=True)
class StandardScaling:
    """Scale every training column to mean 0 and standard deviation 1.

    A constant column maps to 0. The values must be moderate, for example scaled by
    `MinMaxScaling`.
    """

    mean: Floats
    deviation: Floats
    limit: float | Floats = MAX_STANDARD_SCALED  # for all or for each column

    @classmethod
    def fit(
        cls,
        table: NDArray[Any],
        limit: float | Floats = MAX_STANDARD_SCALED,
    ) -> StandardScaling:
        """Compute the mean and standard deviation of every column of `table` (rows, features)."""
        mean = table.mean(axis=0, dtype=np.float64)
        deviation = table.std(axis=0, dtype=np.float64)
        is_constant = deviation <= 1e-12 * np.abs(mean)  # by rounding, it may not be exactly 0
        return cls(mean, np.where(is_constant, 1.0, deviation), limit)

    def transform(self, table: NDArray[Any]) -> Floats:
        """Scale a table of the same columns.

        >>> StandardScaling.fit(np.array([[1.0], [3.0]])).transform([[3.0], [99.0]]).ravel()
        array([ 1., 10.])
        """
        scaled: Floats = table - self.mean
        scaled /= self.deviation
        return np.clip(scaled, -self.limit, self.limit, out=scaled)


def scale_values(values: Any, offset: Any, factor: Any) -> Any:
    """Return ``(values - offset) * factor`` of numpy arrays or torch tensors.

    Halved before subtracting, as in `MinMaxScaling.fit`, since the difference may overflow;
    halving and doubling change no digit.
    """
    scaled = values * 0.5
    scaled -= offset * 0.5  # in place, for less memory
    scaled *= factor * 2
    return scaled
