"""Groups of rows that have the same strongest reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from imboost.facts import BrokenRule, Fact, GroupedBy, Position, RuleKind
from imboost.present import wording
from imboost.present.rows import RowView

EXTREME = (
    0.01  # fraction of the reference rows: a number beyond all others but these is high or low
)

_Key = tuple[GroupedBy, object]  # what the rows of a group have in common


@dataclass(frozen=True)
class RowGroup:
    """Rows that share a reason, the highest score first."""

    reason: str
    rows: list[RowView]

    @property
    def n_outliers(self) -> int:
        """Number of predicted outliers."""
        return sum(row.is_outlier for row in self.rows)


def group_rows(rows: Sequence[RowView]) -> list[RowGroup]:
    """Group rows, sorted by descending score, by their strongest reason.

    Rows belong together if the same column has the same value or breaks the same rule. Rows that
    are alone with their value are grouped by the column and how its value is unusual.
    The groups are sorted by their highest score.
    """
    reasons = [next(iter(row.reasons), None) for row in rows]
    keys = [_value_key(reason) for reason in reasons]
    n_equal = Counter(keys)
    groups: dict[_Key, list[int]] = {}
    for at, (key, reason) in enumerate(zip(keys, reasons, strict=True)):
        groups.setdefault(_side_key(reason) if n_equal[key] == 1 else key, []).append(at)
    found = []
    for key, members in groups.items():
        first = members[0]
        shared = keys[first] if len(members) == 1 else key
        found.append(
            RowGroup(wording.group(reasons[first], shared[0]), [rows[at] for at in members])
        )
    return found


def _value_key(reason: Fact | None) -> _Key:
    """Return the rule that a cell breaks, or its value."""
    if reason is None or reason.is_about_row:
        return GroupedBy.ROW, reason is None
    rule = reason.rule
    is_dependency = rule is not None and rule.kind is RuleKind.DEPENDENCY
    if rule is None or (is_dependency and reason.reference_fraction < EXTREME):  # a new category
        return GroupedBy.VALUE, (reason.column, reason.text)
    return _rule_key(rule)


def _side_key(reason: Fact | None) -> _Key:
    """Return the rule that a cell breaks, or how its value is unusual."""
    if reason is None or reason.is_about_row or reason.text is None:
        return _value_key(reason)
    if reason.rule is not None:
        return _rule_key(reason.rule)
    if reason.position is Position.ABOVE and reason.reference_fraction >= 1 - EXTREME:
        return GroupedBy.HIGH, reason.column
    if reason.position is Position.BELOW and reason.reference_fraction <= EXTREME:
        return GroupedBy.LOW, reason.column
    return GroupedBy.COLUMN, reason.column


def _rule_key(rule: BrokenRule) -> _Key:
    if rule.kind is RuleKind.DEPENDENCY:
        return GroupedBy.RULE, (rule.kind, rule.columns[0])
    misspelt = rule.cells[0] if rule.kind is RuleKind.SPELLING else None
    return GroupedBy.RULE, (rule.kind, rule.columns, rule.formula, misspelt)
