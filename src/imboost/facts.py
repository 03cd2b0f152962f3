"""Facts: what is unusual about a cell, a row or a column, as data.

`imboost.present.wording` makes sentences of them.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

WHOLE_ROW = "(row)"  # stands for a column where something is about all cells of a row


class RareCategories(NamedTuple):
    """Stands for all categories that are seen at most so many times in training."""

    at_most: int


Cell = float | str | np.datetime64 | datetime.time | RareCategories | None
"""The value of a cell: a number, a category, a datetime or a time of day; None if missing."""


class FactKind(StrEnum):
    """What a fact is about."""

    VALUE = "value"  # where a cell lies among the reference rows
    RULE = "rule"  # a cell breaks a rule that nearly all rows obey
    DUPLICATE = "duplicate"  # the row repeats another one
    NEAR_DUPLICATE = "near-duplicate"  # the row repeats another one but for some cells
    REPEATED_ID = "repeated-id"  # an identifier occurs in an earlier row
    SPELLING = "spelling"  # another spelling of a more common category
    SPACES = "spaces"  # spaces around a cell
    SENTINEL = "sentinel"  # a number or date that stands for a missing value
    IMPOSSIBLE_DATE = "impossible-date"  # looks like a date, but no calendar has it
    FUTURE_DATE = "future-date"
    FAR_DATE = "far-date"  # far from all other dates
    UNIT = "unit"  # a number in another unit than the others
    UNREADABLE = "unreadable"  # a cell that does not fit the role of its column
    ABSENT_COLUMN = "absent-column"  # a column of the training table that is not there
    NEW_COLUMN = "new-column"  # a column that the training table lacks
    UNUSED_COLUMN = "unused-column"
    CHANGED_ROLE = "changed-role"
    MISSING_CELLS = "missing-cells"  # far more or fewer missing cells than in training
    UNREADABLE_CELLS = "unreadable-cells"
    UNSEEN_VALUES = "unseen-values"  # categories that do not occur in the training table


class Position(StrEnum):
    """Where a value lies among those of the reference rows."""

    ABOVE = "above"
    BELOW = "below"
    LATER = "later"  # in the day
    EARLIER = "earlier"
    SAME = "same"  # as in all reference rows
    AMONG = "among"  # a category, which a share of the reference rows has
    MISSING = "missing"
    NO_VALUES = "no values"  # the column is empty in all reference rows


class RuleKind(StrEnum):
    """What a rule between columns, or about one column, is."""

    SUM = "sum"
    PRODUCT = "product"
    ORDER = "order"
    DEPENDENCY = "dependency"
    FORMAT = "format"
    SPELLING = "spelling"


class GroupedBy(StrEnum):
    """What the strongest reasons of a group of rows have in common."""

    ROW = "row"  # the row repeats another one, or there is no reason
    RULE = "rule"
    VALUE = "value"  # column and value
    HIGH = "high"  # column, with different high values
    LOW = "low"
    COLUMN = "column"


@dataclass(frozen=True, kw_only=True)
class BrokenRule:
    """A rule of nearly all rows, and how one row breaks it."""

    kind: RuleKind
    columns: tuple[str, ...]  # the others say what the first one should be
    column: str  # whose cell is most likely wrong
    cells: tuple[Cell, ...]  # the row's parsed cells in these columns
    expected: Cell  # what the first column should be; None where the rule does not say it
    formula: str = ""  # of a sum or product, such as "net + tax"; the pattern of a format
    unit: float = 0.0  # to which the numbers of the first column are rounded, 0 if they are not


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing that is unusual about a cell, a row or a column.

    Reference rows are the training rows not predicted as outliers. A changed column differs from
    the training table: `value` and `expected` are its role now and in training, `share` and
    `reference_share` those of the cells in question, now and in training.
    """

    kind: FactKind
    columns: tuple[str, ...] = ()  # the one with the unusual cell first; none for a whole row
    row: int | None = None  # position in the table that was checked or explained
    text: str | None = None  # the cell as the table holds it; None if it is missing
    value: Cell = None  # the parsed cell
    expected: Cell = None  # the value that other cells let expect
    rule: BrokenRule | None = None  # that the cell breaks
    other_row: int | None = None  # position of the row that this row repeats
    typical: tuple[Cell, Cell] | None = None  # nearly all other values lie between these
    unit: float = 0.0  # to which the numbers of the column are rounded, 0 if they are not
    factor: float | None = None  # between two units of measurement
    content: str = ""
    """What the cells of the column should hold, such as "number", "" if no model uses it; of a
    number in another unit, the two units."""
    position: Position | None = None
    share: float = 0.0  # of the reference rows that `position` is about
    reference_share: float = 0.0
    """Share of the reference rows with a smaller value, with the same category, or in which the
    value is missing too."""
    n_cells: int = 0  # of a changed column
    contribution: float = 0.0  # see `Attributions`; 0 if no model is involved
    tolerance: float = 0.0

    @property
    def column(self) -> str:
        """The column with the unusual cell, or `WHOLE_ROW`."""
        return self.columns[0] if self.columns else WHOLE_ROW

    @property
    def is_about_row(self) -> bool:
        """Whether it is about the row as a whole, not about single cells."""
        return not self.columns
