"""How the cells of a column are read: decided once, by all cells of the training table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.tables.cells import (
    CLOCK,
    DAY_FIRST,
    DECIMAL_COMMA,
    GROUPED,
    ISO,
    MONTH_FIRST,
    TIME_FORMS,
    bare_numbers,
    is_text,
    mask_missing,
    parse_booleans,
    parse_datetimes,
    parse_numbers,
    to_categories,
)

LARGE_BY_DOTS = r"^[+-]?[1-9]\d{0,2}((\.\d{3})+,\d*|(\.\d{3}){2,})$"
"""Numbers whose dots can only part thousands."""
COMMA_BEFORE_DECIMALS = r"^[+-]?\d+(\.\d{3})*,(\d{1,2}|\d{4,})$"
MOST = 0.5
BELOW_A_THOUSAND = r"^[+-]?\d{1,3}(,\d*)?$"
CLEAR_SHARE = 0.95
"""So many of a column's cells must be numbers (or times) for the column to be one of them."""


@dataclass(frozen=True)
class NumberParser:
    """Reads numbers.

    Parameters
    ----------
    groups : {"", ",", "."}
        The mark that parts thousands; the other one stands before decimals. Without it, both do.
    """

    groups: str = ""
    wanted: ClassVar[str] = "a number"
    unread: ClassVar[str] = "no number"

    @classmethod
    def fit(cls, cells: pa.ChunkedArray, *, decimal_commas: bool = False) -> Self:
        """Learn what commas and dots are: of thousands, unless cells have other numbers of digits.

        Dots are only if some numbers leave no doubt, or if smaller ones have none. Where cells
        leave it open what commas are, `decimal_commas` says what they are in other columns.

        >>> NumberParser.fit(pa.chunked_array([["1,234", "56"]]))
        NumberParser(groups=',')
        >>> NumberParser.fit(pa.chunked_array([["1.234", "567"]]))
        NumberParser(groups='.')
        """
        said = _with_marks(cells)
        if _are_dots_of_thousands(said):
            return cls(".")
        group, decimal, either = _commas(said)
        is_open = group == decimal and either > 0 and not decimal_commas
        return cls("," if group > decimal or is_open else "")

    def parse(self, cells: pa.ChunkedArray) -> NDArray[np.float64]:
        """Return numbers; nan where a cell is missing or says none."""
        return parse_numbers(cells, groups=self.groups)

    def note(self, cells: pa.ChunkedArray) -> str:
        """Return what a user should know about how training cells were read."""
        if self.groups:
            return f"1{self.groups}234 is read as 1234"
        if pa.types.is_duration(mask_missing(cells).type):
            return "in seconds"
        said = _with_marks(cells)
        if any(_commas(said)):
            return "2,5 is read as 2.5"
        dotted = said.filter(pc.match_substring(said, "."))
        is_doubtful = len(dotted) > 0 and _share_like(dotted, GROUPED["."]) == 1
        return "1.234 is read as 1.234, not as 1234" if is_doubtful else ""


@dataclass(frozen=True)
class DatetimeParser:
    """Reads times.

    Parameters
    ----------
    form : str
        How they are written, where it is not as in ISO 8601: one of `TIME_FORMS`.
    """

    form: str = ISO
    wanted: ClassVar[str] = "a time"
    unread: ClassVar[str] = "no time"

    @classmethod
    def fit(cls, cells: pa.ChunkedArray) -> Self:
        """Learn the form that suits most cells.

        >>> DatetimeParser.fit(pa.chunked_array([["03/04/2024", "04/13/2024"]]))
        DatetimeParser(form='MM/DD/YYYY')
        """
        if pa.types.is_time(mask_missing(cells).type):
            return cls(CLOCK)
        other = _without_iso(cells)
        counts = {form: _n_times(other, form) for form in TIME_FORMS} if len(other) else {ISO: 0}
        return cls(max(counts, key=lambda form: counts[form]))

    def parse(self, cells: pa.ChunkedArray) -> NDArray[np.float64]:
        """Return seconds since 1970; nan where a cell is missing or says no time."""
        return parse_datetimes(cells, self.form)

    def note(self, cells: pa.ChunkedArray) -> str:
        """Return what a user should know about how training cells were read."""
        if self.form not in (DAY_FIRST, MONTH_FIRST):
            return ""
        other = _without_iso(cells)
        if _n_times(other, DAY_FIRST) != _n_times(other, MONTH_FIRST):
            return ""
        return f"day or month may come first; read as {self.form}"


@dataclass(frozen=True)
class CategoryParser:
    """Reads levels of a category, or yes and no.

    Parameters
    ----------
    spelled : tuple of two str, optional
        How no and yes are written, whatever cells write for them. Without it, cells are
        categories.
    """

    spelled: tuple[str, str] | None = None
    wanted: ClassVar[str] = "yes or no"
    unread: ClassVar[str] = "neither yes nor no"

    @classmethod
    def fit(cls, cells: pa.ChunkedArray) -> Self:
        """Learn how no and yes are written.

        >>> CategoryParser.fit(pa.chunked_array([["Y", "N", "y", "N", "Y"]]))
        CategoryParser(spelled=('N', 'Y'))
        """
        said, written = parse_booleans(cells), to_categories(cells)
        no, yes = (
            _most_common(written.filter(pa.array(said == truth)), otherwise)
            for truth, otherwise in ((0.0, "false"), (1.0, "true"))
        )
        return cls((no, yes))

    def parse(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return text; null where a cell is missing or says neither yes nor no."""
        if self.spelled is None:
            return to_categories(cells)
        no, yes = self.spelled
        said = parse_booleans(cells)
        written = pc.if_else(pa.array(said == 1), yes, no)
        return pa.chunked_array([pc.if_else(pa.array(np.isnan(said)), None, written)])

    def note(self, _cells: pa.ChunkedArray) -> str:
        """Return what a user should know about how training cells were read: nothing."""
        return ""


Parser = NumberParser | DatetimeParser | CategoryParser


def n_unread(parser: Parser, cells: pa.ChunkedArray) -> int:
    """Return how many cells say something that a parser cannot read."""
    kind = mask_missing(cells).type
    if isinstance(parser, NumberParser) and (
        pa.types.is_floating(kind) or pa.types.is_integer(kind)
    ):
        return 0
    found = parser.parse(cells)
    missing = int(np.isnan(found).sum()) if isinstance(found, np.ndarray) else found.null_count
    return missing - int(mask_missing(cells).null_count)


def has_decimal_commas(table: pa.Table) -> bool:
    """Whether a column of a table leaves no doubt that commas stand before decimals in it.

    >>> has_decimal_commas(pa.table({"size": ["1,5", "2,25"], "weight": ["1,234", "2,345"]}))
    True
    """
    columns = (_with_marks(column) for column in table.columns if is_text(column.type))
    return any(len(said) and _share_like(said, COMMA_BEFORE_DECIMALS) > MOST for said in columns)


def _with_marks(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return what text says of numbers; nothing if cells are no text."""
    cells = mask_missing(cells)
    if not is_text(cells.type):
        return pa.chunked_array([], pa.string())
    return bare_numbers(cells).drop_null()


def _commas(said: pa.ChunkedArray) -> tuple[int, int, int]:
    """Return how many numbers have commas of thousands, before decimals, or of either kind."""
    said = said.filter(pc.match_substring(said, ","))
    group, decimal = (
        pc.match_substring_regex(said, form) for form in (GROUPED[","], DECIMAL_COMMA)
    )
    n_group, n_decimal, n_either = (
        pc.sum(found).as_py() or 0 for found in (group, decimal, pc.and_(group, decimal))
    )
    return n_group - n_either, n_decimal - n_either, n_either


def _are_dots_of_thousands(said: pa.ChunkedArray) -> bool:
    is_dotted = pc.match_substring(said, ".")
    dotted, others = said.filter(is_dotted), said.filter(pc.invert(is_dotted))
    if len(dotted) == 0 or _share_like(dotted, GROUPED["."]) < CLEAR_SHARE:
        return False
    if _share_like(dotted, LARGE_BY_DOTS) > 0:
        return True
    return len(others) > 0 and _share_like(others, BELOW_A_THOUSAND) >= CLEAR_SHARE


def _share_like(said: pa.ChunkedArray, form: str) -> float:
    return float(pc.mean(pc.match_substring_regex(said, form)).as_py())


def _without_iso(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the cells that are there and are no times as in ISO 8601."""
    cells = mask_missing(cells)
    return cells.filter(pa.array(np.isnan(parse_datetimes(cells)))).drop_null()


def _n_times(cells: pa.ChunkedArray, form: str) -> int:
    return int((~np.isnan(parse_datetimes(cells, form))).sum())


def _most_common(written: pa.ChunkedArray, otherwise: str) -> str:
    counted = pc.value_counts(written).to_pylist()
    found = min(counted, key=lambda one: (-one["counts"], one["values"]), default=None)
    return otherwise if found is None else str(found["values"])
