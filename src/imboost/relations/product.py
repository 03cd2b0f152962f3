"""Products and ratios of columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import ClassVar

import numpy as np

from imboost.arrays import Floats
from imboost.facts import RuleKind
from imboost.present.formatting import rounded
from imboost.relations.evidence import Evidence, varying
from imboost.relations.numeric import NumericRelation, rounding_unit

MAX_COLUMNS = 80  # columns that are searched, the first ones
SCREENED_ROWS = 128  # rows of the sample on which candidates are screened
MIN_SCREENED = 0.85  # share of these rows in which a candidate holds
FIRST_ROWS, MIN_FIRST = 24, 0.6  # rows that are screened first, and the share needed there
MIN_SCREENED_ROWS = 12  # rows in which rounding changes the product by little
MAX_ROUNDING = 0.05  # relative rounding error of these rows
MIN_VARIATION = 0.05  # standard deviation of the logarithm of each column
POWERS = ((1, 1), (1, 2), (2, 1))  # of two factors; ratios are products of another target
MIN_INFORMATIVE = 0.2  # share of rows that a shuffled column must break


@dataclass(frozen=True, kw_only=True)
class ProductRelation(NumericRelation):
    """The target is a factor times powers of the other columns.

    >>> columns = {name: np.array([1.0]) for name in ("price", "amount", "quantity")}
    >>> relation = ProductRelation.from_columns(
    ...     ("price", "amount", "quantity"), columns, powers=(1, -1)
    ... )
    >>> relation.formula()
    'amount / quantity'
    """

    powers: tuple[int, ...]
    factor: float = 1.0

    kind: ClassVar[RuleKind] = RuleKind.PRODUCT

    def _compute(self, cells: list[Floats], target: int = 0) -> Floats:
        result = np.full(len(cells[0]), self.factor)
        for at, (power, column) in enumerate(zip(self.powers, cells[1:], strict=True), start=1):
            if at != target:
                result = result * column**power
        if target == 0:
            return result
        power, ratio = self.powers[target - 1], cells[0] / result
        root = np.sign(ratio) * np.abs(ratio) ** (1 / abs(power))
        return np.asarray(1 / root if power < 0 else root)

    def _errors(self, cells: list[Floats]) -> tuple[Floats, Floats]:
        result = np.abs(self._compute(cells))
        error = np.zeros(len(result))
        for power, column, unit in zip(self.powers, cells[1:], self.input_units, strict=True):
            size = np.maximum(np.abs(column), unit or 1e-300)
            # The derivative at the small end of the interval, where ratios are steepest.
            nearest = np.maximum(size - unit / 2, size / 2) if power < 0 else size
            error = error + abs(power) * result * (unit / 2) / nearest
        return error, np.abs(cells[0]) + result

    def formula(self) -> str:
        """Return the product as text."""
        above: list[str] = []
        below: list[str] = []
        for name, power in zip(self.columns[1:], self.powers, strict=True):
            text = name if abs(power) == 1 else f"{name}^{abs(power)}"
            (above if power > 0 else below).append(text)
        if self.factor != 1 or not above:
            above.insert(0, rounded(self.factor, 0.0))
        return " / ".join([" × ".join(above), *below])


def find_products(
    evidence: Evidence, numbers: list[str], related: set[frozenset[str]]
) -> list[ProductRelation]:
    """Return products of two columns; `related` are pairs that a sum already relates."""
    names = varying(evidence.sample, numbers)[:MAX_COLUMNS]
    if len(names) < 3:
        return []
    X = evidence.screened(names, SCREENED_ROWS)
    half = np.array([rounding_unit(evidence.sample[name]) / 2 for name in names])
    with np.errstate(all="ignore"):
        L = np.log(np.abs(np.where(X == 0, np.nan, X)))  # (rows, columns)
        E = np.where(X == 0, np.nan, half / np.abs(X) + 1e-6)  # errors of the logarithms
    kept = [at for at in range(len(names)) if _varies(L[:, at])]
    found: dict[frozenset[str], ProductRelation] = {}
    for (b, c), (p, q) in product(combinations(kept, 2), POWERS):
        logs, error = p * L[:, b] + q * L[:, c], p * E[:, b] + q * E[:, c]
        targets = [a for a in kept if a not in (b, c)]
        for a in _matches(L[:, targets] - logs[:, None], E[:, targets] + error[:, None]):
            trio = names[targets[a]], names[b], names[c]
            is_related = not related.isdisjoint(map(frozenset, combinations(trio, 2)))
            if frozenset(trio) not in found and not is_related:
                relation = _best_form(evidence, trio, (p, q))
                if relation is not None:
                    found[frozenset(trio)] = relation
    return list(found.values())


def _varies(logs: Floats) -> bool:
    known = logs[np.isfinite(logs)]
    return len(known) >= MIN_SCREENED_ROWS and float(known.std()) > MIN_VARIATION


def _matches(differences: Floats, errors: Floats) -> Iterator[int]:
    """Yield the columns in which the logarithms differ by a constant; first by a few rows."""
    rates = _constant_rates(differences[:FIRST_ROWS], errors[:FIRST_ROWS])
    n_precise = (errors < MAX_ROUNDING).sum(axis=0)
    at = np.flatnonzero((n_precise >= MIN_SCREENED_ROWS) & (rates >= MIN_FIRST))
    if len(at):
        rates = _constant_rates(differences[:, at], errors[:, at])
        yield from at[rates >= MIN_SCREENED].tolist()


def _constant_rates(differences: Floats, errors: Floats) -> Floats:
    """Return for each column the share of precise rows that are near its median."""
    is_precise = errors < MAX_ROUNDING  # nan is not
    masked = np.where(is_precise, differences, np.nan)
    n = is_precise.sum(axis=0)
    medians = np.take_along_axis(np.sort(masked, axis=0), (np.maximum(n, 1) // 2)[None], axis=0)
    with np.errstate(invalid="ignore"):
        near = np.abs(masked - medians) <= 1.1 * errors + 1e-6
    return np.asarray(near.sum(axis=0) / np.maximum(n, 1))


def _best_form(
    evidence: Evidence, trio: tuple[str, str, str], powers: tuple[int, int]
) -> ProductRelation | None:
    """Return the product or ratio whose result alone is rounded, if there is one."""
    (a, b, c), (p, q) = trio, powers
    forms = [(trio, powers)]
    forms += [((b, a, c), (1, -q))] * (p == 1) + [((c, a, b), (1, -p))] * (q == 1)
    for is_exact, (columns, form), digits in product((True, False), forms, (1, 2, 3, 4, 6)):
        target, first, second = (np.asarray(evidence.sample[name]) for name in columns)
        with np.errstate(all="ignore"):
            ratios = target / (first ** form[0] * second ** form[1])
        factor = float(np.median(ratios[np.isfinite(ratios) & (ratios != 0)]))
        relation = ProductRelation.from_columns(
            columns,
            evidence.sample,
            powers=form,
            factor=float(f"{factor:.{digits}g}"),
            has_exact_inputs=is_exact,
        )
        checked = evidence.check(relation, min_informative=MIN_INFORMATIVE)
        if checked is not None:
            return checked
    return None
