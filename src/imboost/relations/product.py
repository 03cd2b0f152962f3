"""Products and ratios of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from imboost.arrays import Floats
from imboost.facts import RuleKind
from imboost.present.formatting import rounded
from imboost.relations.numeric import NumericRelation


@dataclass(frozen=True, kw_only=True)
class ProductRelation(NumericRelation):
    """The target is a factor times powers of the other columns.

    >>> columns = {name: np.array([1.0]) for name in ("price", "amount", "quantity")}
    >>> relation = ProductRelation.from_columns(
    ...     ("price", "amount", "quantity"), columns, frozenset(), powers=(1, -1)
    ... )
    >>> relation.formula()
    'amount / quantity'
    """

    powers: tuple[int, ...]
    factor: float = 1.0

    kind: ClassVar[RuleKind] = RuleKind.PRODUCT

    def compute(self, cells: list[Floats], target: int = 0) -> Floats:
        """Return a column's values by the rule."""
        product = np.full(len(cells[0]), self.factor)
        for at, (power, column) in enumerate(zip(self.powers, cells[1:], strict=True), start=1):
            if at != target:
                product = product * column**power
        if target == 0:
            return product
        power = self.powers[target - 1]
        ratio = cells[0] / product
        root = np.sign(ratio) * np.abs(ratio) ** (1 / abs(power))
        return np.asarray(1 / root if power < 0 else root)

    def input_error(self, cells: list[Floats]) -> Floats:
        """Return half a rounding unit of every other column, times its derivative."""
        product = np.abs(self.compute(cells))
        error = np.zeros(len(product))
        for power, column, unit in zip(self.powers, cells[1:], self.units[1:], strict=True):
            size = np.maximum(np.abs(column), unit or 1e-300)
            # The derivative at the small end of the interval, where ratios are steepest.
            nearest = np.maximum(size - unit / 2, size / 2) if power < 0 else size
            error = error + abs(power) * product * (unit / 2) / nearest
        return error

    def size(self, cells: list[Floats]) -> Floats:
        """Return the target plus the product."""
        return np.abs(cells[0]) + np.abs(self.compute(cells))

    def formula(self) -> str:
        """Return the product as text."""
        above = [_power(*pair) for pair in self._pairs if pair[1] > 0]
        below = [_power(*pair) for pair in self._pairs if pair[1] < 0]
        if self.factor != 1 or not above:
            above.insert(0, rounded(self.factor, 0.0))
        return " / ".join([" × ".join(above), *below])

    @property
    def _pairs(self) -> list[tuple[str, int]]:
        return list(zip(self.columns[1:], self.powers, strict=True))


def _power(name: str, power: int) -> str:
    return name if abs(power) == 1 else f"{name}^{abs(power)}"
