"""What the cells of a column say, whatever they are stored as: numbers, times or words."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf(inity)?))$"
SIGNS = r"^([+-]?)\s*(?:[$€£¥₹]|[A-Z]{3}\s)\s*|\s*[$€£¥₹%]$|\s[A-Z]{3}$"
"""What stands before or behind a number and says nothing of its size among others like it."""
IN_BRACKETS = r"^\(\s*(.*\d.*?)\s*\)$"
"""How bookkeepers write what is less than nothing."""
SPACED = r"^[+-]?\d{1,3}(?:[ '\x{2019}\x{a0}\x{202f}]\d{3})+(?:[.,]\d*)?$"
DECIMAL_COMMA = r"^[+-]?\d+,\d+$"
GROUPED = {
    ",": r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$",
    ".": r"^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$",
}
"""Numbers whose thousands are parted by a mark."""
WHOLE_NUMBER = r"^([+-]?(?:0|[1-9]\d*))\.0*$"
MISSING_STRINGS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "-nan")
"""What stands for a missing value where cells are text."""
TRUE_WORDS = ("true", "yes", "y", "t")
FALSE_WORDS = ("false", "no", "n", "f")

ISO = "YYYY-MM-DD"
DAY_FIRST, MONTH_FIRST = "DD/MM/YYYY", "MM/DD/YYYY"
MONTH_NAMED, CLOCK = "DD-Mon-YYYY", "HH:MM"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR, _MONTH, _DAY = r"(?P<year>\d{4}|\d{2})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_LONG_YEAR = r"(?P<year>\d{4})"
_HOURS = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d+))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_REST = rf"(?:[T ]{_HOURS})?(?: ?(?:Z|UTC|GMT|[+-]\d{{2}}(?::?\d{{2}})?))?$"
TIME_FORMS = {
    ISO: rf"^{_LONG_YEAR}-{_MONTH}-{_DAY}{_REST}",
    "DD.MM.YYYY": rf"^{_DAY}\.{_MONTH}\.{_YEAR}{_REST}",
    DAY_FIRST: rf"^{_DAY}/{_MONTH}/{_YEAR}{_REST}",
    MONTH_FIRST: rf"^{_MONTH}/{_DAY}/{_YEAR}{_REST}",
    "YYYY/MM/DD": rf"^{_LONG_YEAR}/{_MONTH}/{_DAY}{_REST}",
    "YYYYMMDD": rf"^{_LONG_YEAR}(?P<month>\d{{2}})(?P<day>\d{{2}}){_REST}",
    "DD-MM-YYYY": rf"^{_DAY}-{_MONTH}-{_LONG_YEAR}{_REST}",
    MONTH_NAMED: rf"^{_DAY}[- ](?P<month>[A-Za-z]{{3}})[a-z]*[- ]{_YEAR}{_REST}",
    CLOCK: rf"^(?P<year>)(?P<month>)(?P<day>){_HOURS}$",
}
"""How times are written: the parts of each form."""

FIRST_SHORT_YEAR = 69
"""Years of two digits from here on are those of 1900, as for strptime."""

MAX_NUMBER = 1e300
"""Infinite numbers count as this large."""


def is_supported(kind: pa.DataType) -> bool:
    """Whether cells of this type hold one value each that can be looked at."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_primitive(kind)
        or is_text(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of this type hold text."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def mask_missing(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without dictionary; not-a-number and words for it count as missing."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if pa.types.is_null(column.type) or pa.types.is_string_view(column.type):
        column = pc.cast(column, pa.string())
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    if is_text(column.type):
        is_missing = pc.is_in(
            pc.utf8_trim_whitespace(column), pa.array(MISSING_STRINGS, column.type)
        )
        column = pc.if_else(is_missing, None, column)
    return column


def parse_numbers(column: pa.ChunkedArray, *, groups: str = "") -> NDArray[np.float64]:
    """Return a column as numbers; nan where a cell is missing or says no number.

    Durations and clock times are in seconds.

    Parameters
    ----------
    column : Arrow array in chunks
    groups : {"", ",", "."}
        The mark that parts thousands; the other one stands before decimals. Without it, both do.

    Examples
    --------
    >>> parse_numbers(pa.chunked_array([["1", "2,5", None, "many"]])).tolist()
    [1.0, 2.5, nan, nan]
    >>> parse_numbers(pa.chunked_array([["1,234", "2,5"]]), groups=",").tolist()
    [1234.0, nan]
    >>> parse_numbers(pa.chunked_array([["1.234,5", "2,5"]]), groups=".").tolist()
    [1234.5, 2.5]
    """
    column = mask_missing(column)
    if pa.types.is_duration(column.type) or pa.types.is_time(column.type):
        return _seconds(column)
    if pa.types.is_temporal(column.type):
        column = to_text(column)
    if is_text(column.type):
        said = _with_decimal_points(bare_numbers(column), groups)
        said = pc.if_else(pc.match_substring_regex(said, NUMBER), said, None)
        column = pc.cast(pc.utf8_ltrim(said, "+"), pa.float64())
    values = _as_floats(column)
    return np.where(np.isnan(values), np.nan, np.clip(values, -MAX_NUMBER, MAX_NUMBER))


def bare_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text without what may stand around and in numbers: signs of currencies, spaces.

    >>> bare_numbers(pa.chunked_array([["$1,234.50", " -$5 ", "45.2 %"]])).to_pylist()
    ['1,234.50', '-5', '45.2']
    >>> bare_numbers(pa.chunked_array([["1 234,5", "(12.50)", "USD 7"]])).to_pylist()
    ['1234,5', '-12.50', '7']
    """
    said = pc.replace_substring(pc.utf8_trim_whitespace(column), "\u2212", "-")
    said = pc.replace_substring_regex(said, IN_BRACKETS, r"-\1")
    said = pc.replace_substring_regex(said, SIGNS, r"\1")
    without = pc.replace_substring_regex(said, r"[ '\x{2019}\x{a0}\x{202f}]", "")
    return pc.if_else(pc.match_substring_regex(said, SPACED), without, said)


def _with_decimal_points(said: pa.ChunkedArray, groups: str) -> pa.ChunkedArray:
    """Return numbers without marks of thousands and with a point before decimals."""
    if not groups:
        comma = pc.match_substring_regex(said, DECIMAL_COMMA)
        return pc.if_else(comma, pc.replace_substring(said, ",", "."), said)
    is_grouped = pc.match_substring_regex(said, GROUPED[groups])
    misplaced = pc.and_(pc.match_substring(said, groups), pc.invert(is_grouped))
    said = pc.replace_substring(pc.if_else(misplaced, None, said), groups, "")
    return pc.replace_substring(said, ",", ".")


def _seconds(column: pa.ChunkedArray) -> NDArray[np.float64]:
    is_clock = pa.types.is_time(column.type)
    micros = pc.cast(column, pa.time64("us") if is_clock else pa.duration("us"), safe=False)
    return _as_floats(pc.cast(micros, pa.int64())) / 1e6


def parse_datetimes(column: pa.ChunkedArray, form: str = ISO) -> NDArray[np.float64]:
    """Return a column as seconds since 1970, in the clock of the cell's own time zone.

    Cells that are missing or say no time are nan. Those of a clock alone are of 1970's first day.

    Parameters
    ----------
    column : Arrow array in chunks
    form : str
        One of `TIME_FORMS`. Cells of that form are read, and those of ISO's.

    Examples
    --------
    >>> parse_datetimes(pa.chunked_array([["1970-01-02", "1970-01-01 00:01+02:00"]])).tolist()
    [86400.0, 60.0]
    >>> parse_datetimes(pa.chunked_array([["02/01/1970", "1970-02-30"]]), "DD/MM/YYYY").tolist()
    [86400.0, nan]
    """
    column = mask_missing(column)
    if pa.types.is_time(column.type):
        return _seconds(column)
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        said = to_text(column) if is_text(column.type) else to_categories(column)
        values = _parse_times(said, ISO)
        if form != ISO:
            values = np.where(np.isnan(values), _parse_times(said, form), values)
        return values
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = pc.local_timestamp(column)
    micros = pc.cast(pc.cast(column, pa.timestamp("us"), safe=False), pa.int64())
    return _as_floats(micros) / 1e6


def to_categories(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as text in which whole numbers, yes and no are written in one way.

    >>> to_categories(pa.chunked_array([["1.0", "01", "True", None]])).to_pylist()
    ['1', '01', 'true', None]
    """
    column = mask_missing(column)
    said = to_text(column)
    if pa.types.is_floating(column.type):
        values = pc.cast(column, pa.float64())
        is_whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), 2.0**53))
        whole = pc.cast(pc.if_else(is_whole, values, None), pa.int64())
        return pc.coalesce(pc.cast(whole, pa.string()), said)
    said = pc.replace_substring_regex(said, WHOLE_NUMBER, r"\1")
    said = pc.replace_substring_regex(said, "^(?:True|TRUE)$", "true")
    return pc.replace_substring_regex(said, "^(?:False|FALSE)$", "false")


def to_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as text without spaces around it; null where a cell is missing."""
    column = mask_missing(column)
    if pa.types.is_duration(column.type):
        column = pa.chunked_array([pa.array(_seconds(column), from_pandas=True)])
    said = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    if pa.types.is_timestamp(column.type) or pa.types.is_time(column.type):
        said = pc.replace_substring_regex(said, r"\.0+($|Z|[+-])", r"\1")  # no parts if none are
    return said


def parse_booleans(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return a column of yes and no as 1 and 0; nan where a cell is missing or says neither."""
    column = mask_missing(column)
    if pa.types.is_boolean(column.type):
        return _as_floats(column)
    values = parse_numbers(column)
    said = np.where(np.isin(values, (0.0, 1.0)), values, np.nan)
    if not is_text(column.type):
        return said
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    for truth, spellings in ((1.0, TRUE_WORDS), (0.0, FALSE_WORDS)):
        spelled = pc.fill_null(pc.is_in(lower, pa.array(spellings)), False)
        said[spelled.to_numpy(zero_copy_only=False)] = truth
    return said


def _parse_times(said: pa.ChunkedArray, form: str) -> NDArray[np.float64]:
    """Return seconds since 1970 of cells that have a form and that a calendar has."""
    found = pc.extract_regex(said, TIME_FORMS[form])
    year, day, hour, minute, second = (
        _as_floats(_digits(found, name)) for name in ("year", "day", "hour", "minute", "second")
    )
    month = _named_months(found) if form == MONTH_NAMED else _as_floats(_digits(found, "month"))
    if form == CLOCK:
        year, month, day = (np.where(np.isnan(hour), np.nan, first) for first in (1970, 1, 1))
    part = pc.utf8_slice_codeunits(pc.utf8_rpad(pc.struct_field(found, "part"), 6, "0"), 0, 6)
    is_short = pc.equal(pc.utf8_length(pc.struct_field(found, "year")), 2)
    century = np.where(year < FIRST_SHORT_YEAR, 2000, 1900)
    year = np.where(_as_floats(is_short) == 1, year + century, year)
    half = pc.utf8_lower(pc.struct_field(found, "half"))
    hour = np.where(_as_floats(pc.is_in(half, pa.array(["a", "p"]))) == 1, hour % 12, hour)
    hour = hour + 12 * (_as_floats(pc.equal(half, "p")) == 1)
    with np.errstate(invalid="ignore"):
        is_time = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
        is_time &= (hour <= 23) & (minute <= 59) & (second <= 59)
    months = np.where(is_time, 12 * (year - 1970) + month - 1, 0).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(np.int64) + np.where(is_time, day - 1, 0)
    is_time &= days < (months + 1).astype("datetime64[D]").astype(np.int64)
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    micros = seconds * 1e6 + np.nan_to_num(_as_floats(pc.cast(part, pa.int64())))
    return np.where(is_time, micros / 1e6, np.nan)


def _digits(found: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    said = pc.struct_field(found, name)
    return pc.cast(pc.if_else(pc.equal(said, ""), "0", said), pa.int64())


def _named_months(found: pa.ChunkedArray) -> NDArray[np.float64]:
    names = pc.utf8_lower(pc.struct_field(found, "month"))
    return _as_floats(pc.index_in(names, pa.array(MONTHS))) + 1


def _as_floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    floats = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)
