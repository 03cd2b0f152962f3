"""Orders: one number or time is never above another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from imboost.arrays import Floats, Indices
from imboost.facts import RuleKind
from imboost.relations.relation import Parsed, Relation, n_rows


@dataclass(frozen=True, kw_only=True)
class OrderRelation(Relation):
    """The first column is at most the second, or above it by less than the slack.

    >>> order = OrderRelation(
    ...     columns=("start", "end"), support=1.0, unit=1.0, centers=(5.0, 9.0),
    ...     spreads=(1.0, 1.0), is_datetime=False,
    ... )
    >>> order.holds({"start": np.array([7.0, 1.0]), "end": np.array([4.0, 1.0])}).tolist()
    [False, True]
    """

    unit: float
    centers: tuple[float, float]  # medians of both columns
    spreads: tuple[float, float]  # robust standard deviations
    is_datetime: bool
    slack: float = 0.0  # differences up to this one occur in correct rows

    kind: ClassVar[RuleKind] = RuleKind.ORDER

    def residual(self, parsed: Parsed) -> Floats:
        """Return how far the first column is above the second, in standard deviations."""
        if not self.is_applicable(parsed):
            return np.zeros(n_rows(parsed))
        low, high = self._cells(parsed)
        excess = (low - high) / max(min(self.spreads), 1e-300)
        return np.where(low > high + self.slack, np.maximum(excess, 1e-12), 0.0)

    def expected(self, parsed: Parsed) -> Floats:
        """Return the largest value that the first column may have."""
        if not self.is_applicable(parsed):
            return np.full(n_rows(parsed), np.nan)
        return self._cells(parsed)[1]

    def blame(self, parsed: Parsed) -> Indices:
        """Return the column whose value is farther from its median."""
        if not self.is_applicable(parsed):
            return super().blame(parsed)
        low, high = (
            np.abs(column - center) / spread
            for column, center, spread in zip(
                self._cells(parsed), self.centers, self.spreads, strict=True
            )
        )
        return (high > low).astype(np.int64)

    @property
    def _unit(self) -> float:
        return self.unit

    def _is_time(self, name: str) -> bool:
        return self.is_datetime

    def _cells(self, parsed: Parsed) -> tuple[Floats, Floats]:
        low, high = (np.asarray(parsed[name], dtype=np.float64) for name in self.columns)
        return low, high
