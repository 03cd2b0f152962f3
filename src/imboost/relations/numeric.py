"""Relations that compute a number or a time from others."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from imboost.arrays import Floats
from imboost.relations.relation import Parsed, Relation, n_rows
from imboost.relations.rounding import center_and_spread, rounding_unit

FLOAT_ERROR = 1e-9  # relative error of sums and products of floats
UNROUNDED_ERROR = 1e-6  # relative error allowed for numbers with more than six decimals


@dataclass(frozen=True, kw_only=True)
class NumericRelation(Relation):
    """A target that follows from other columns up to the rounding of all of them."""

    units: tuple[float, ...]  # to which the columns are rounded, 0 if they are not
    centers: tuple[float, ...]  # medians of the columns
    spreads: tuple[float, ...]  # robust standard deviations of the columns
    datetimes: tuple[bool, ...]  # whether columns hold times, in seconds
    has_exact_inputs: bool = False  # whether the target alone is rounded

    @classmethod
    def from_columns(
        cls, columns: tuple[str, ...], parsed: Parsed, times: frozenset[str], **settings: Any
    ) -> Self:
        """Make a relation of which only the support is unknown."""
        values = [np.asarray(parsed[name], dtype=np.float64) for name in columns]
        pairs = [center_and_spread(column) for column in values]
        return cls(
            columns=columns,
            support=0.0,
            units=tuple(rounding_unit(column) for column in values),
            centers=tuple(center for center, _ in pairs),
            spreads=tuple(spread for _, spread in pairs),
            datetimes=tuple(name in times for name in columns),
            **settings,
        )

    @abstractmethod
    def compute(self, cells: list[Floats], target: int = 0) -> Floats:
        """Return a column's values by the rule; its own cells are not used."""

    @abstractmethod
    def input_error(self, cells: list[Floats]) -> Floats:
        """Return the largest difference that the rounding of the other columns explains."""

    @abstractmethod
    def size(self, cells: list[Floats]) -> Floats:
        """Return the size of the terms, to which the error of floats is proportional."""

    @property
    def _unit(self) -> float:
        return self.units[0]

    def _is_time(self, name: str) -> bool:
        return self.datetimes[self.columns.index(name)]

    def residual(self, parsed: Parsed) -> Floats:
        """Return the difference from the rule in robust standard deviations of the target."""
        cells = self.cells(parsed)
        if cells is None:
            return np.zeros(n_rows(parsed))
        with np.errstate(all="ignore"):
            difference = np.abs(cells[0] - self.compute(cells))
            is_broken = difference > self.error(cells)
        return np.where(is_broken, np.maximum(difference / self.spreads[0], 1e-12), 0.0)

    def expected(self, parsed: Parsed) -> Floats:
        """Return the target's value by the rule, nan where a cell is missing."""
        cells = self.cells(parsed)
        if cells is None:
            return np.full(n_rows(parsed), np.nan)
        with np.errstate(all="ignore"):
            return self.compute(cells)

    def blame(self, parsed: Parsed) -> Any:
        """Return the column that is less typical of its column than its value by the rule.

        If that is true of none, or of several by the same amount, it is the target.
        """
        cells = self.cells(parsed)
        if cells is None:
            return super().blame(parsed)
        gains = np.zeros((len(cells[0]), len(cells)))
        with np.errstate(all="ignore"):
            for at, column in enumerate(cells):
                center, spread = self.centers[at], self.spreads[at]
                implied = self.compute(cells, at)
                gains[:, at] = np.abs(column - center) - np.abs(implied - center)
                gains[:, at] /= spread
        gains = np.where(np.isfinite(gains), gains, 0.0)
        gains[:, 0] += 1e-6 * np.abs(gains).max(axis=1)
        return gains.argmax(axis=1)

    def cells(self, parsed: Parsed) -> list[Floats] | None:
        """Return the columns of the relation, or None if one is not there."""
        if not self.is_applicable(parsed):
            return None
        return [np.asarray(parsed[name], dtype=np.float64) for name in self.columns]

    def error(self, cells: list[Floats]) -> Floats:
        """Return the largest difference from the rule that rounding explains."""
        is_rounded = all(unit > 0 for unit in self.units)
        error = (FLOAT_ERROR if is_rounded else UNROUNDED_ERROR) * self.size(cells)
        if not self.has_exact_inputs:
            error = error + self.input_error(cells)
        return 1.001 * self.units[0] / 2 + 1.001 * error
