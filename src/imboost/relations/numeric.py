"""Relations that compute a number or a time from others, and the rounding of numbers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from imboost.arrays import Floats, Indices, Mask
from imboost.relations.relation import Parsed, Relation
from imboost.stats.scaling import MAD_TO_STD

FLOAT_ERROR = 1e-9  # relative error of sums and products of floats
UNROUNDED_ERROR = 1e-6  # relative error allowed for numbers with more than six decimals
MAX_DECIMALS = 6  # numbers with more decimals count as not rounded
ROUNDED_SHARE = 0.99  # of the values have the decimals of their column


@dataclass(frozen=True, kw_only=True)
class NumericRelation(Relation):
    """A target that follows from other columns up to the rounding of all of them."""

    input_units: tuple[float, ...]  # to which the other columns are rounded, 0 if they are not
    centers: tuple[float, ...]  # medians of the columns
    spreads: tuple[float, ...]  # robust standard deviations of the columns
    has_exact_inputs: bool = False  # whether the target alone is rounded

    @classmethod
    def from_columns(cls, columns: tuple[str, ...], parsed: Parsed, **settings: Any) -> Self:
        """Make a relation of which only the support is unknown."""
        centers, spreads = zip(*(center_and_spread(parsed[name]) for name in columns), strict=True)
        unit, *input_units = (rounding_unit(parsed[name]) for name in columns)
        return cls(
            columns=columns,
            unit=unit,
            input_units=tuple(input_units),
            centers=centers,
            spreads=spreads,
            **settings,
        )

    @abstractmethod
    def _compute(self, cells: list[Floats], target: int = 0) -> Floats:
        """Return a column's values by the rule; its own cells are not used."""

    @abstractmethod
    def _errors(self, cells: list[Floats]) -> tuple[Floats | float, Floats]:
        """Return the largest difference that the rounding of the other columns explains.

        Also the size of the terms, to which the error of floats is proportional.
        """

    def holds(self, parsed: Parsed) -> Mask:
        """Return in which rows rounding explains the difference from the rule."""
        cells = self._cells(parsed)
        is_rounded = all(unit > 0 for unit in (self.unit, *self.input_units))
        with np.errstate(all="ignore"):
            input_error, size = self._errors(cells)
            error = (FLOAT_ERROR if is_rounded else UNROUNDED_ERROR) * size
            if not self.has_exact_inputs:
                error = error + input_error
            limit = 1.001 * self.unit / 2 + 1.001 * error
            return np.asarray(~(np.abs(cells[0] - self._compute(cells)) > limit))

    def expected(self, parsed: Parsed) -> Floats:
        """Return the target's value by the rule, nan where a cell is missing."""
        with np.errstate(all="ignore"):
            return self._compute(self._cells(parsed))

    def blame(self, parsed: Parsed) -> Indices:
        """Return the column that is less typical of its column than its value by the rule.

        If that is true of none, or of several by the same amount, it is the target.
        """
        cells = self._cells(parsed)
        gains = np.zeros((len(cells[0]), len(cells)))
        with np.errstate(all="ignore"):
            for at, (column, center) in enumerate(zip(cells, self.centers, strict=True)):
                gains[:, at] = np.abs(column - center) - np.abs(self._compute(cells, at) - center)
            gains /= self.spreads
        gains = np.where(np.isfinite(gains), gains, 0.0)
        gains[:, 0] += 1e-6 * np.abs(gains).max(axis=1)
        return np.asarray(gains.argmax(axis=1))

    def _cells(self, parsed: Parsed) -> list[Floats]:
        return [np.asarray(parsed[name], dtype=np.float64) for name in self.columns]


def rounding_unit(values: Floats) -> float:
    """Return the unit to which numbers are rounded, 0 if they are not.

    >>> rounding_unit(np.array([1.25, 3.5, 7.0])), rounding_unit(np.array([3.0, 4.0]))
    (0.01, 1.0)
    >>> rounding_unit(np.array([1 / 3, 1 / 7]))
    0.0
    """
    known = values[np.isfinite(values)]
    for decimals in range(MAX_DECIMALS + 1):
        scaled = known * 10.0**decimals
        is_rounded = np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1e3)
        if is_rounded.mean() >= ROUNDED_SHARE:
            return float(10.0**-decimals)
    return 0.0


def center_and_spread(values: Floats) -> tuple[float, float]:
    """Return the median and a robust standard deviation that is not 0.

    >>> center_and_spread(np.array([1.0, 2.0, 3.0, 4.0, 90.0]))
    (3.0, 1.4826)
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    center = float(np.median(known))
    spread = MAD_TO_STD * float(np.median(np.abs(known - center)))
    return center, spread or float(known.std()) or 1.0
