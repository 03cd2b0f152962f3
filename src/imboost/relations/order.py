"""Orders of numbers and of times."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import numpy as np

from imboost.arrays import Floats, Indices, Mask
from imboost.facts import RuleKind
from imboost.relations.evidence import Evidence, numeric_matrix, varying
from imboost.relations.numeric import center_and_spread, rounding_unit
from imboost.relations.relation import Parsed, Relation

MAX_COLUMNS = 100  # columns that are compared, the first ones
MIN_ORDERED = 0.97  # share of the sample in which an order must hold before it is checked
MIN_NUMBER_SUPPORT = 0.99  # share of rows; orders of numbers are more often accidental
MIN_TIME_SUPPORT = 0.98
MAX_BY_CHANCE = 0.9  # share of rows in which an order holds with one column shuffled
MAX_VIOLATION_RATIO = 0.05  # violations, relative to those with one column shuffled
MIN_DISTINCT = 10  # values of a column of numbers that can be ordered
SLACK_QUANTILE = 0.1  # of the positive differences; smaller violations may be due to chance
MAX_EQUAL = 0.95  # share of rows in which both columns are equal


@dataclass(frozen=True, kw_only=True)
class OrderRelation(Relation):
    """The first column is at most the second, or above it by less than the slack.

    >>> order = OrderRelation(
    ...     columns=("start", "end"), unit=1.0, centers=(5.0, 9.0), spreads=(1.0, 1.0)
    ... )
    >>> order.holds({"start": np.array([7.0, 1.0]), "end": np.array([4.0, 1.0])}).tolist()
    [False, True]
    """

    centers: tuple[float, float]  # medians of both columns
    spreads: tuple[float, float]  # robust standard deviations
    slack: float = 0.0  # differences up to this one occur in correct rows

    kind: ClassVar[RuleKind] = RuleKind.ORDER

    def holds(self, parsed: Parsed) -> Mask:
        """Return in which rows the columns are in order, but for the slack."""
        low, high = self.columns
        return np.asarray(~(parsed[low] > parsed[high] + self.slack))

    def expected(self, parsed: Parsed) -> Floats:
        """Return the largest value that the first column may have."""
        return np.asarray(parsed[self.columns[1]])

    def blame(self, parsed: Parsed) -> Indices:
        """Return the column whose value is farther from its median."""
        X = numeric_matrix(parsed, self.columns)
        low, high = (np.abs(X - self.centers) / self.spreads).T
        return np.asarray(high > low, dtype=np.int64)


def find_orders(
    evidence: Evidence, columns: list[str], related: set[frozenset[str]], *, are_times: bool
) -> list[OrderRelation]:
    """Return orders that do not follow from others; `related` are pairs that a sum relates."""
    names = [
        name
        for name in varying(evidence.sample, columns)[:MAX_COLUMNS]
        if are_times or len(np.unique(evidence.sample[name])) >= MIN_DISTINCT
    ]
    if len(names) < 2:
        return []
    X = numeric_matrix(evidence.sample, names)
    shuffled = X[evidence.rng.permutation(len(X))]
    least = MIN_TIME_SUPPORT if are_times else MIN_NUMBER_SUPPORT
    found: dict[tuple[str, str], OrderRelation] = {}
    for low, high in permutations(range(len(names)), 2):
        if not _is_ordered(X[:, low], X[:, high], shuffled[:, low]):
            continue
        pair = names[low], names[high]
        centers, spreads = zip(*map(center_and_spread, X[:, [low, high]].T), strict=True)
        differences = evidence.parsed[pair[1]] - evidence.parsed[pair[0]]
        relation = OrderRelation(
            columns=pair,
            unit=rounding_unit(X[:, low]),
            centers=centers,
            spreads=spreads,
            times=pair if are_times else (),
            slack=0.0 if are_times else _slack(differences),
        )
        checked = evidence.check(relation, min_support=least)
        if checked is not None:
            found[pair] = checked
    return [
        relation
        for (low, high), relation in found.items()
        if frozenset((low, high)) not in related
        and not any((low, name) in found and (name, high) in found for name in names)
    ]


def _is_ordered(low: Floats, high: Floats, shuffled: Floats) -> bool:
    """Whether an order holds in a sample far more often than with the lower column shuffled."""
    known = np.isfinite(low) & np.isfinite(high)
    if not known.any():
        return False
    violations = float(np.mean((low > high)[known]))
    if violations > 1 - MIN_ORDERED or np.mean((low == high)[known]) > MAX_EQUAL:
        return False
    known = np.isfinite(shuffled) & np.isfinite(high)
    by_chance = float(np.mean((shuffled > high)[known])) if known.any() else 0.0
    return by_chance >= 1 - MAX_BY_CHANCE and violations <= MAX_VIOLATION_RATIO * by_chance


def _slack(differences: Floats) -> float:
    """Return the violation that numbers may have by chance, 0 unless most violations are small.

    Two columns that are merely correlated are in reverse order by a little in some rows. In a
    true order, wrong cells differ by as much as right ones.
    """
    above, below = differences[differences > 0], -differences[differences < 0]
    if not len(above) or not len(below):
        return 0.0
    limit = float(np.quantile(above, SLACK_QUANTILE))
    return limit if np.mean(below <= limit) > 0.5 else 0.0
