"""Numbers, booleans and categories as people write them.

Numbers may have currencies, thousands separators and decimal commas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats
from imboost.tables.cells import as_text, is_text, to_floats, to_seconds, value_counts

MAX_NUMBER = 1e300  # larger numbers are clipped to this, so that differences stay finite
CLEAR_MAJORITY = 0.95  # fraction of cells with a format from which the column has that format

_NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf(inity)?))$"
_UNITS = r"^([+-]?)\s*(?:[$€£¥₹]|[A-Z]{3}\s)\s*|\s*[$€£¥₹%]$|\s[A-Z]{3}$"
_IN_PARENTHESES = r"^\(\s*(.*\d.*?)\s*\)$"  # accountants' negative numbers
_SPACES = r"[ '\x{2019}\x{a0}\x{202f}]"
_SPACE_SEPARATED = rf"^[+-]?\d{{1,3}}(?:{_SPACES}\d{{3}})+(?:[.,]\d*)?$"
_DECIMAL_COMMA = r"^[+-]?\d+,\d+$"
_CLEAR_DECIMAL_COMMA = r"^[+-]?\d+(\.\d{3})*,(\d{1,2}|\d{4,})$"
_SEPARATED = {
    ",": r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$",
    ".": r"^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$",
}
_CLEAR_SEPARATOR_DOT = r"^[+-]?[1-9]\d{0,2}((\.\d{3})+,\d*|(\.\d{3}){2,})$"
_BELOW_1000 = r"^[+-]?\d{1,3}(,\d*)?$"

TRUE_STRINGS = ("true", "yes", "y", "t")
FALSE_STRINGS = ("false", "no", "n", "f")


@dataclass(frozen=True)
class NumberParser:
    """Parses numbers.

    The thousands separator `thousands` is "," or ".", and the other one is the decimal mark; if it
    is empty, both a point and a comma are decimal marks.
    """

    thousands: str = ""
    note: str = field(default="", compare=False)  # for users: how training cells were parsed
    content: ClassVar[str] = "number"

    @classmethod
    def fit_parse(
        cls, cells: pa.ChunkedArray, *, decimal_commas: bool = False
    ) -> tuple[Self, Floats]:
        """Find the thousands separator, and return the numbers too.

        A comma separates thousands unless the digits after it show otherwise; a dot does only if
        numbers such as "1.234.567" prove it, or if all numbers without one are below 1000.
        `decimal_commas` tells whether commas are decimal marks in other columns of the table;
        it decides where the cells of this column are ambiguous.

        >>> NumberParser.fit_parse(pa.chunked_array([["1,234", "56"]]))[0].thousands
        ','
        >>> NumberParser.fit_parse(pa.chunked_array([["1.234", "567"]]))[0].thousands
        '.'
        """
        if not is_text(cells.type):
            note = "in seconds" if pa.types.is_duration(cells.type) else ""
            parser = cls(note=note)
            return parser, parser.parse(cells)
        text = _number_text(cells)
        thousands, note = _find_separator(text.drop_null(), decimal_commas)
        return cls(thousands, note), _parse_text(text, thousands)

    def parse(self, cells: pa.ChunkedArray) -> Floats:
        """Return numbers; nan where a cell is missing or not a number.

        Durations and times of day are in seconds.

        >>> NumberParser().parse(pa.chunked_array([["1", "2,5", None, "many"]])).tolist()
        [1.0, 2.5, nan, nan]
        >>> NumberParser(",").parse(pa.chunked_array([["1,234", "2,5"]])).tolist()
        [1234.0, nan]
        >>> NumberParser(".").parse(pa.chunked_array([["1.234,5", "2,5"]])).tolist()
        [1234.5, 2.5]
        """
        if pa.types.is_duration(cells.type) or pa.types.is_time(cells.type):
            return to_seconds(cells)
        if pa.types.is_temporal(cells.type):
            cells = as_text(cells)
        if is_text(cells.type):
            return _parse_text(_number_text(cells), self.thousands)
        return np.clip(to_floats(cells), -MAX_NUMBER, MAX_NUMBER)


def has_decimal_commas(cells: pa.ChunkedArray) -> bool:
    """Whether most cells are numbers in which the comma can only be a decimal mark.

    >>> has_decimal_commas(pa.chunked_array([["1,5", "2,25"]]))
    True
    >>> has_decimal_commas(pa.chunked_array([["1,234", "2,345"]]))
    False
    """
    if not is_text(cells.type):
        return False
    cells = cells.drop_null()
    with_comma = cells.filter(pc.match_substring(cells, ","))
    if 2 * len(with_comma) <= len(cells):
        return False
    return 2 * _count(_number_text(with_comma), _CLEAR_DECIMAL_COMMA) > len(cells)


@dataclass(frozen=True)
class CategoryParser:
    """Parses categories: any text, with one spelling for each integer and boolean."""

    note: str = field(default="", compare=False)
    content: ClassVar[str] = "category"

    def parse(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return categories; null where a cell is missing."""
        return to_categories(cells)


@dataclass(frozen=True)
class BooleanParser:
    """Parses booleans into `false` and `true`, the spellings of the training table."""

    false: str = "false"
    true: str = "true"
    note: str = field(default="", compare=False)
    content: ClassVar[str] = "boolean"

    @classmethod
    def fit_parse(cls, cells: pa.ChunkedArray) -> tuple[Self, pa.ChunkedArray]:
        """Find the most common spelling of each boolean, and return the parsed cells too.

        >>> BooleanParser.fit_parse(pa.chunked_array([["Y", "N", "y", "N", "Y"]]))[0]
        BooleanParser(false='N', true='Y', note='')
        """
        values, spelled = parse_booleans(cells), to_categories(cells)
        parser = cls(
            _most_common(spelled.filter(pa.array(values == 0)), cls.false),
            _most_common(spelled.filter(pa.array(values == 1)), cls.true),
        )
        return parser, parser._spell(values)

    def parse(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return `true` or `false` for every cell; null where it is missing or not a boolean."""
        return self._spell(parse_booleans(cells))

    def _spell(self, values: Floats) -> pa.ChunkedArray:
        spelled = pc.if_else(pa.array(values == 1), self.true, self.false)
        return pa.chunked_array([pc.if_else(pa.array(np.isnan(values)), None, spelled)])


def to_categories(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as text with one spelling for each integer and boolean.

    >>> to_categories(pa.chunked_array([["1.0", "01", "True", None]])).to_pylist()
    ['1', '01', 'true', None]
    """
    if is_text(column.type):
        return _map_distinct(_spell, pc.cast(column, pa.string()))
    text = as_text(column)
    if pa.types.is_floating(column.type):
        values = pc.cast(column, pa.float64())
        is_integer = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), 2.0**53))
        integers = pc.cast(pc.if_else(is_integer, values, None), pa.int64())
        return pc.coalesce(pc.cast(integers, pa.string()), text)
    return _spell(text)


def _map_distinct(
    function: Callable[[pa.ChunkedArray], pa.ChunkedArray], column: pa.ChunkedArray
) -> pa.ChunkedArray:
    """Return the results of a function of single cells, computed once for each distinct cell."""
    encoded = pc.dictionary_encode(column).combine_chunks()
    values = function(pa.chunked_array([encoded.dictionary])).combine_chunks()
    return pa.chunked_array([values.take(encoded.indices)])


def _spell(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text without spaces around it, with one spelling for each integer and boolean."""
    text = as_text(text)
    text = pc.replace_substring_regex(text, r"^([+-]?(?:0|[1-9]\d*))\.0*$", r"\1")
    text = pc.replace_substring_regex(text, "^(?:True|TRUE)$", "true")
    return pc.replace_substring_regex(text, "^(?:False|FALSE)$", "false")


def parse_booleans(column: pa.ChunkedArray) -> Floats:
    """Return a column as 1 and 0; nan where a cell is missing or not a boolean."""
    if pa.types.is_boolean(column.type):
        return to_floats(column)
    numbers = NumberParser().parse(column)
    values = np.where(np.isin(numbers, (0.0, 1.0)), numbers, np.nan)
    if not is_text(column.type):
        return values
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    for value, strings in ((1.0, TRUE_STRINGS), (0.0, FALSE_STRINGS)):
        is_one = pc.fill_null(pc.is_in(lower, pa.array(strings)), False)
        values[is_one.to_numpy(zero_copy_only=False)] = value
    return values


def _most_common(text: pa.ChunkedArray, default: str) -> str:
    counts = value_counts(text)
    return str(min(counts, key=lambda value: (-counts[value], value), default=default))


def _number_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text without currencies, percent signs and spaces between thousands.

    >>> _number_text(pa.chunked_array([["$1,234.50", " -$5 ", "45.2 %"]])).to_pylist()
    ['1,234.50', '-5', '45.2']
    >>> _number_text(pa.chunked_array([["1 234,5", "(12.50)", "USD 7"]])).to_pylist()
    ['1234,5', '-12.50', '7']
    """
    text = pc.replace_substring(pc.utf8_trim_whitespace(column), "\N{MINUS SIGN}", "-")
    text = pc.replace_substring_regex(text, _IN_PARENTHESES, r"-\1")
    text = pc.replace_substring_regex(text, _UNITS, r"\1")
    joined = pc.replace_substring_regex(text, _SPACES, "")
    return pc.if_else(pc.match_substring_regex(text, _SPACE_SEPARATED), joined, text)


def _parse_text(text: pa.ChunkedArray, thousands: str) -> Floats:
    if thousands:
        is_separated = pc.match_substring_regex(text, _SEPARATED[thousands])
        misplaced = pc.and_(pc.match_substring(text, thousands), pc.invert(is_separated))
        text = pc.replace_substring(pc.if_else(misplaced, None, text), thousands, "")
        text = pc.replace_substring(text, ",", ".")
    else:
        has_comma = pc.match_substring_regex(text, _DECIMAL_COMMA)
        text = pc.if_else(has_comma, pc.replace_substring(text, ",", "."), text)
    text = pc.if_else(pc.match_substring_regex(text, _NUMBER), text, None)
    values = to_floats(pc.cast(pc.utf8_ltrim(text, "+"), pa.float64()))
    return np.clip(values, -MAX_NUMBER, MAX_NUMBER)


def _find_separator(text: pa.ChunkedArray, decimal_commas: bool) -> tuple[str, str]:
    """Return the thousands separator and a note on it."""
    is_dotted = pc.match_substring(text, ".")
    dotted, others = text.filter(is_dotted), text.filter(pc.invert(is_dotted))
    like_thousands = _count(dotted, _SEPARATED["."])
    if 0 < CLEAR_MAJORITY * len(dotted) <= like_thousands and (
        _count(dotted, _CLEAR_SEPARATOR_DOT)
        or 0 < CLEAR_MAJORITY * len(others) <= _count(others, _BELOW_1000)
    ):
        return ".", "1.234 is read as 1234"
    with_comma = text.filter(pc.match_substring(text, ","))
    like_separator = with_comma.filter(pc.match_substring_regex(with_comma, _SEPARATED[","]))
    n_separator, n_decimal = len(like_separator), _count(with_comma, _DECIMAL_COMMA)
    is_ambiguous = n_separator == n_decimal and _count(like_separator, _DECIMAL_COMMA) > 0
    if n_separator > n_decimal or (is_ambiguous and not decimal_commas):
        return ",", "1,234 is read as 1234"
    if n_separator or n_decimal:
        return "", "2,5 is read as 2.5"
    is_doubtful = 0 < len(dotted) == like_thousands
    return "", "1.234 is read as 1.234, not as 1234" if is_doubtful else ""


def _count(text: pa.ChunkedArray, pattern: str) -> int:
    """Return the number of cells that match a pattern."""
    return pc.sum(pc.match_substring_regex(text, pattern)).as_py() or 0
