"""Groups of rows that have the same strongest reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from imboost.explain import Reason
from imboost.scoring.explained_rows import shorten
from imboost.scoring.report_rows import ReportRow

EXTREME = 0.01  # fraction of reference rows: a number beyond all others but these is high or low

# Parts of a rule that differ from row to row: values in brackets, the result of a formula, and
# the value that a code has.
VALUES = re.compile(r" \([^()]*\)| = [^=]*$|, but is .*$", re.DOTALL)
DEPENDS = ", as in other rows with "

WHOLE_ROW = "repeats another row"
NO_REASON = "unusual as a whole, not in a single column"


@dataclass(frozen=True)
class RowGroup:
    """Rows that share a reason, the highest score first."""

    reason: str
    rows: list[ReportRow]

    @property
    def n_outliers(self) -> int:
        """Number of rows that are called outliers."""
        return sum(row.is_outlier for row in self.rows)


def group_rows(rows: Sequence[ReportRow]) -> list[RowGroup]:
    """Group rows, sorted by descending score, by their strongest reason.

    Rows belong together if the same column has the same value or breaks the same rule. Rows that
    are alone with their value are grouped by the column and how its value is unusual.
    The groups are sorted by their highest score.
    """
    exact = _collect([_shared_value(row) for row in rows])
    keys = [
        _shared_column(row) if len(exact[_shared_value(row)]) == 1 else _shared_value(row)
        for row in rows
    ]
    found = []
    for key, members in _collect(keys).items():
        reason = _shared_value(rows[members[0]]) if len(members) == 1 else key
        found.append(RowGroup(reason, [rows[member] for member in members]))
    return found


def _collect(keys: Sequence[str]) -> dict[str, list[int]]:
    """Return the positions of each key, in the order of its first one."""
    found: dict[str, list[int]] = {}
    for position, key in enumerate(keys):
        found.setdefault(key, []).append(position)
    return found


def _shared_value(row: ReportRow) -> str:
    """Say the strongest reason of a row: the value of a column, or the rule that it breaks."""
    reason = next(iter(row.reasons), None)
    if reason is None:
        return NO_REASON
    if reason.is_about_row:
        return WHOLE_ROW
    is_new_category = DEPENDS in reason.position and reason.reference_fraction < EXTREME
    if reason.is_rule and not is_new_category:
        return rule_without_values(reason)
    return f"{reason.column} {shorten(reason.value) or 'missing'}"


def _shared_column(row: ReportRow) -> str:
    """Say the strongest reason of a row without its value."""
    reason = next(iter(row.reasons), None)
    if reason is None or reason.is_about_row or reason.value is None:
        return _shared_value(row)
    if reason.is_rule:
        return rule_without_values(reason)
    if reason.position.startswith("above ") and reason.reference_fraction >= 1 - EXTREME:
        return f"{reason.column} high, with different values"
    if reason.position.startswith("below ") and reason.reference_fraction <= EXTREME:
        return f"{reason.column} low, with different values"
    return f"{reason.column} unusual, with different values"


def rule_without_values(reason: Reason) -> str:
    """Return a rule that a cell breaks without the values of the row.

    >>> text = "total should be net + tax = 12.50"
    >>> rule_without_values(Reason("total", "9", 0.5, 0.0, "2", 0.9, text))
    'total should be net + tax'
    >>> text = "low (9) should be at most high (7)"
    >>> rule_without_values(Reason("low", "9", 0.5, 0.0, "2", 0.9, text))
    'low should be at most high'
    >>> text = "state should be NY, as in other rows with city Albany"
    >>> rule_without_values(Reason("state", "CA", 0.5, 0.0, "NY", 0.9, text))
    'state does not fit other columns'
    """
    if DEPENDS in reason.position:
        return f"{reason.column} does not fit other columns"
    return VALUES.sub("", reason.position)
