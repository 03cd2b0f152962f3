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
    """A rule of nearly all rows, and how one row breaks it.

    Parameters
    ----------
    kind : RuleKind
    columns : tuple of str
        The columns of the rule; the others say what the first one should be.
    column : str
        The column whose cell is most likely wrong.
    cells : tuple of values
        The row's parsed cells in these columns.
    expected : value
        What the first column should be; None where the rule does not say it.
    formula : str
        The formula of a sum or product, such as "net + tax"; the pattern of a format.
    unit : float
        Unit to which the numbers of the first column are rounded, 0 if they are not.
    """

    kind: RuleKind
    columns: tuple[str, ...]
    column: str
    cells: tuple[Cell, ...]
    expected: Cell
    formula: str = ""
    unit: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing that is unusual about a cell, a row or a column.

    Parameters
    ----------
    kind : FactKind
    columns : tuple of str
        The columns that it is about, the one with the unusual cell first; empty if it is about
        the row as a whole.
    row : int or None
        Position of the row in the table that was checked or explained.
    text : str or None
        The cell as the table holds it; None if it is missing.
    value, expected : float, str, datetime or None
        The parsed cell, and the value that other cells let expect. For a changed column, the role
        of the column now and in training.
    rule : BrokenRule or None
        The rule that the cell breaks.
    other_row : int or None
        Position of the row that this row repeats.
    typical : pair of values, or None
        Nearly all other values of the column lie between these.
    unit : float
        Unit to which the numbers of the column are rounded, 0 if they are not.
    factor : float or None
        Factor between two units of measurement.
    content : str
        What the cells of the column should hold, such as "number", "" if no model uses it; of
        a number in another unit, the two units.
    position : Position or None
    share : float
        Fraction of the reference rows that `position` is about; of the cells of a changed column.
    reference_fraction : float
        Fraction of the reference rows (training rows not predicted as outliers) with a smaller
        value, with the same category, or in which the value is missing too; for a changed column
        the fraction of the training rows.
    n_cells : int
        Number of such cells of a changed column.
    contribution, tolerance : float
        See `Attributions`; 0 if no model is involved.
    """

    kind: FactKind
    columns: tuple[str, ...] = ()
    row: int | None = None
    text: str | None = None
    value: Cell = None
    expected: Cell = None
    rule: BrokenRule | None = None
    other_row: int | None = None
    typical: tuple[Cell, Cell] | None = None
    unit: float = 0.0
    factor: float | None = None
    content: str = ""
    position: Position | None = None
    share: float = 0.0
    reference_fraction: float = 0.0
    n_cells: int = 0
    contribution: float = 0.0
    tolerance: float = 0.0

    @property
    def column(self) -> str:
        """The column with the unusual cell, or `WHOLE_ROW`."""
        return self.columns[0] if self.columns else WHOLE_ROW

    @property
    def is_about_row(self) -> bool:
        """Whether it is about the row as a whole, not about single cells."""
        return not self.columns
