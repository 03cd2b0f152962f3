"""Rows as pages, the terminal and notebooks show them, and groups with the same strongest reason.

Every text from the data is a plain string, which templates escape; only a `picture` is markup,
made by `imboost.present.pictures`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from imboost.explain import Explanation
from imboost.facts import BrokenRule, Fact, GroupedBy, Position, RuleKind
from imboost.present import wording
from imboost.present.formatting import number

EXTREME = 0.01  # fraction of the reference rows beyond which a number is high or low
UNEXPLAINED = Explanation(math.nan, math.nan, math.nan, is_exact=False, reasons=[])
"""In place of an explanation that is not known, or that the detector cannot give."""

_Key = tuple[GroupedBy, object]  # what the rows of a group have in common


@dataclass(frozen=True, kw_only=True)
class CellView:
    """A cell of a row."""

    column: str
    text: str | None  # None if the cell is missing
    number: float | None = None  # to sort by, if the cell is a number or a datetime
    reason: Fact | None = None  # what is unusual about it
    picture: Markup = field(default_factory=Markup)  # of the column, the cell and its expectation

    @property
    def is_row(self) -> bool:
        """Whether it stands for the row as a whole."""
        return self.reason is not None and self.reason.is_about_row

    @property
    def subject(self) -> str:
        """The column, or the row as a whole."""
        return wording.subject(self.reason) if self.reason else self.column

    @property
    def expected(self) -> str:
        """The value predicted from the other cells; empty if the cell is not unusual."""
        return wording.cell(self.reason.expected) if self.reason else ""

    @property
    def position(self) -> str:
        """Such as "above 99.8% of reference rows"; empty if the cell is not unusual."""
        return wording.position(self.reason) if self.reason else ""


@dataclass(frozen=True, kw_only=True)
class RowView:
    """A row: what the model and people know about it, and some of its cells.

    The first fields are those of `imboost.scoring.score_files`; `rank` and `answer` are None
    where they are unknown.
    """

    row: int  # number in the complete table, from 0
    score: float
    rank: int | None = None  # 1 is the highest score
    probability: float
    is_outlier: bool  # predicted by the model
    answer: str | None = None
    name: str
    cells: list[CellView] = field(default_factory=list)
    explanation: Explanation = UNEXPLAINED

    @property
    def is_explained(self) -> bool:
        """Whether the explanation is known."""
        return not math.isnan(self.explanation.score)

    @property
    def reasons(self) -> list[Fact]:
        """What makes the row unusual, the strongest reason first."""
        return self.explanation.main_reasons

    @property
    def unusual_cells(self) -> list[CellView]:
        """The cells of the reasons, in their order; without text for the row as a whole."""
        cells = {cell.column: cell for cell in self.cells}
        return [
            cells.get(reason.column) or CellView(column=reason.column, text=None, reason=reason)
            for reason in self.reasons
        ]

    @property
    def other_cells(self) -> list[CellView]:
        """The cells that are no reason, in the order of the table."""
        return [cell for cell in self.cells if cell.reason is None]

    @property
    def largest(self) -> float:
        """The size of the largest contribution, or 1 if all are 0."""
        sizes = [abs(reason.contribution) for reason in self.explanation.reasons]
        return max(sizes, default=0.0) or 1.0

    @property
    def method(self) -> str:
        """How the contributions were computed."""
        return wording.method(self.explanation.reasons, is_exact=self.explanation.is_exact)

    @property
    def warning(self) -> str:
        """A warning if the contributions explain little of an outlier's score."""
        reasons, residual = self.explanation.reasons, self.explanation.residual
        explained = sum(max(reason.contribution, 0.0) for reason in reasons)
        return wording.RESIDUAL if self.is_outlier and residual > explained else ""

    def share(self, cell: CellView) -> float:
        """Return the contribution of an unusual cell relative to the largest one."""
        return max(cell.reason.contribution, 0.0) / self.largest if cell.reason else 0.0

    def number(self, value: float, sign: str = "") -> str:
        """Write a score or a contribution with the decimals of the largest contribution."""
        return number(value, max(1, 2 - math.floor(math.log10(self.largest))), sign)


@dataclass(frozen=True)
class RowGroup:
    """Rows that share a reason, the highest score first."""

    reason: str
    rows: list[RowView]

    @property
    def n_outliers(self) -> int:
        """Number of predicted outliers."""
        return sum(row.is_outlier for row in self.rows)


@dataclass(frozen=True, kw_only=True)
class QuestionView(RowView):
    """A row that people are asked about, or look at."""

    request: str  # a fresh id: an answer that is sent twice counts once
    n_rows: int
    origin: str  # why the row is asked, in one sentence
    score_picture: Markup
    similar: list[RowView]  # answered; cells are what differs most
    group: RowGroup | None  # unanswered rows like this one; cells are what they share
    answers: list[tuple[str, str]]  # so far, with the people who gave them
    note: str  # of the last answer


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
    if rule is None or (is_dependency and reason.reference_share < EXTREME):  # a new category
        return GroupedBy.VALUE, (reason.column, reason.text)
    return _rule_key(rule)


def _side_key(reason: Fact | None) -> _Key:
    """Return the rule that a cell breaks, or how its value is unusual."""
    if reason is None or reason.is_about_row or reason.text is None:
        return _value_key(reason)
    if reason.rule is not None:
        return _rule_key(reason.rule)
    if reason.position is Position.ABOVE and reason.reference_share >= 1 - EXTREME:
        return GroupedBy.HIGH, reason.column
    if reason.position is Position.BELOW and reason.reference_share <= EXTREME:
        return GroupedBy.LOW, reason.column
    return GroupedBy.COLUMN, reason.column


def _rule_key(rule: BrokenRule) -> _Key:
    if rule.kind is RuleKind.DEPENDENCY:
        return GroupedBy.RULE, (rule.kind, rule.columns[0])
    misspelt = rule.cells[0] if rule.kind is RuleKind.SPELLING else None
    return GroupedBy.RULE, (rule.kind, rule.columns, rule.formula, misspelt)
