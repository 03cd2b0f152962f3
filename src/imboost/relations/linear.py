"""Sums, differences, multiples and equal columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from imboost.arrays import Floats
from imboost.facts import RuleKind
from imboost.present.formatting import rounded
from imboost.relations.numeric import NumericRelation

SECONDS = {1.0: "seconds", 60.0: "minutes", 3600.0: "hours", 86400.0: "days", 604800.0: "weeks"}


@dataclass(frozen=True, kw_only=True)
class LinearRelation(NumericRelation):
    """The target is the constant plus the other columns, each times its coefficient.

    >>> relation = LinearRelation.from_columns(
    ...     ("total", "net", "tax"),
    ...     {"total": np.array([12.0]), "net": np.array([10.0]), "tax": np.array([2.0])},
    ...     frozenset(),
    ...     coefficients=(1.0, 1.0),
    ... )
    >>> broken = {"total": np.array([21.0]), "net": np.array([10.0]), "tax": np.array([2.0])}
    >>> relation.formula(), relation.expected(broken).tolist()
    ('net + tax', [12.0])
    """

    coefficients: tuple[float, ...]
    constant: float = 0.0

    kind: ClassVar[RuleKind] = RuleKind.SUM

    def compute(self, cells: list[Floats], target: int = 0) -> Floats:
        """Return a column's values by the rule."""
        terms = zip(self.coefficients, cells[1:], strict=True)
        total = np.full(len(cells[0]), self.constant)
        for at, (factor, column) in enumerate(terms, start=1):
            if at != target:
                total = total + factor * column
        if target == 0:
            return total
        return np.asarray((cells[0] - total) / self.coefficients[target - 1])

    def input_error(self, cells: list[Floats]) -> Floats:
        """Return half a rounding unit of every other column, times its coefficient."""
        pairs = zip(self.coefficients, self.units[1:], strict=True)
        return np.full(len(cells[0]), sum(abs(factor) * unit / 2 for factor, unit in pairs))

    def size(self, cells: list[Floats]) -> Floats:
        """Return the sum of the absolute terms."""
        size = np.abs(cells[0]) + abs(self.constant)
        for factor, column in zip(self.coefficients, cells[1:], strict=True):
            size = size + abs(factor) * np.abs(column)
        return size

    def formula(self) -> str:
        """Return the sum as text."""
        parts = []
        for factor, name in zip(self.coefficients, self.columns[1:], strict=True):
            size = abs(factor)
            text = name if size == 1 else f"{rounded(size, 0.0)} × {name}"
            if self.datetimes[0] and size in SECONDS and name not in self._times:
                text = f"{name} ({SECONDS[size]})"
            parts.append(("- " if factor < 0 else "+ ") + text)
        if self.constant:
            unit = self.units[0] if self.units[0] <= abs(self.constant) else 0.0
            text = rounded(abs(self.constant), unit)
            part = ("- " if self.constant < 0 else "+ ") + text
            if all(factor < 0 for factor in self.coefficients):
                parts.insert(0, part)
            else:
                parts.append(part)
        first, *others = parts
        return " ".join([first.removeprefix("+ ").replace("- ", "-", 1), *others])

    @property
    def _times(self) -> set[str]:
        pairs = zip(self.columns, self.datetimes, strict=True)
        return {name for name, is_datetime in pairs if is_datetime}
