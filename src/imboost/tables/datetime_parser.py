"""Dates and times in the formats that people and programs write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats
from imboost.tables.cells import as_text, is_text, to_floats, to_seconds
from imboost.tables.parsers import to_categories

ISO = "YYYY-MM-DD"
DAY_FIRST, MONTH_FIRST = "DD/MM/YYYY", "MM/DD/YYYY"
MONTH_NAMED, CLOCK = "DD-Mon-YYYY", "HH:MM"
YEAR_MONTH, NAMED_MONTH_YEAR, MONTH_YEAR = "YYYY-MM", "Mon-YYYY", "MM/YYYY"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR, _MONTH, _DAY = r"(?P<year>\d{4}|\d{2})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_LONG_YEAR = r"(?P<year>\d{4})"
_CLEAR_YEAR = r"(?P<year>(?:1[5-9]|20|21)\d{2})"  # of formats that numbers and codes may have
_NO_TIME = (
    r"(?P<day>)(?P<hour>)(?P<minute>)(?P<second>)(?P<fraction>)(?P<half>)$"  # the whole month
)
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_END = rf"(?:[T ]{_TIME})?(?: ?(?:Z|UTC|GMT|[+-]\d{{2}}(?::?\d{{2}})?))?$"
FORMATS = {
    ISO: rf"^{_LONG_YEAR}-{_MONTH}-{_DAY}{_END}",
    "DD.MM.YYYY": rf"^{_DAY}\.{_MONTH}\.{_YEAR}{_END}",
    DAY_FIRST: rf"^{_DAY}/{_MONTH}/{_YEAR}{_END}",
    MONTH_FIRST: rf"^{_MONTH}/{_DAY}/{_YEAR}{_END}",
    "YYYY/MM/DD": rf"^{_LONG_YEAR}/{_MONTH}/{_DAY}{_END}",
    "YYYYMMDD": rf"^{_LONG_YEAR}(?P<month>\d{{2}})(?P<day>\d{{2}}){_END}",
    "DD-MM-YYYY": rf"^{_DAY}-{_MONTH}-{_LONG_YEAR}{_END}",
    MONTH_NAMED: rf"^{_DAY}[- ](?P<month>[A-Za-z]{{3}})[a-z]*[- ]{_YEAR}{_END}",
    YEAR_MONTH: rf"^{_CLEAR_YEAR}[-/](?P<month>\d{{2}}){_NO_TIME}",
    NAMED_MONTH_YEAR: rf"^(?P<month>[A-Za-z]{{3}})[a-z]*\.?[- ,/]{{1,2}}{_CLEAR_YEAR}{_NO_TIME}",
    MONTH_YEAR: rf"^(?P<month>\d{{1,2}})/{_CLEAR_YEAR}{_NO_TIME}",
    CLOCK: rf"^(?P<year>)(?P<month>)(?P<day>){_TIME}$",
}
"""Regular expression of each format; if two parse equally many cells, the first is used."""

MONTH_FORMATS = (YEAR_MONTH, NAMED_MONTH_YEAR, MONTH_YEAR)
"""Formats of months, which are read as their first day."""

_START = rf"^(?:\d|(?i:{'|'.join(MONTHS)}))"
FIRST_YEAR_OF_1900S = 69
"""Two-digit years from here on belong to the 1900s, others to the 2000s, as in strptime."""


@dataclass(frozen=True)
class DatetimeParser:
    """Parses dates and times in one of `FORMATS` or in ISO 8601."""

    format: str = ISO
    note: str = field(default="", compare=False)  # for users: how training cells were parsed
    content: ClassVar[str] = "date or time"

    @classmethod
    def fit_parse(cls, cells: pa.ChunkedArray) -> tuple[Self, Floats]:
        """Find the format that parses most cells, and return the parsed cells too.

        >>> DatetimeParser.fit_parse(pa.chunked_array([["03/04/2024", "04/13/2024"]]))[0].format
        'MM/DD/YYYY'
        """
        if pa.types.is_temporal(cells.type):
            parser = cls(CLOCK if pa.types.is_time(cells.type) else ISO)
            return parser, parser.parse(cells)
        text = _to_text(cells)
        # All formats begin with a digit or the name of a month.
        if not pc.any(pc.match_substring_regex(text, _START)).as_py():
            return cls(), np.full(len(text), np.nan)
        values = _parse_format(text, ISO)
        is_other = np.isnan(values) & ~np.asarray(text.is_null())
        if not is_other.any():
            return cls(), values
        others = text.filter(pa.array(is_other))
        parsed = {form: _parse_format(others, form) for form in FORMATS if form != ISO}
        counts = {form: int((~np.isnan(found)).sum()) for form, found in parsed.items()}
        best = max(counts, key=lambda form: counts[form])
        if counts[best] == 0:
            return cls(), values
        values[is_other] = parsed[best]
        is_ambiguous = best == DAY_FIRST and counts[DAY_FIRST] == counts[MONTH_FIRST]
        note = f"day and month are ambiguous; read as {best}" if is_ambiguous else ""
        return cls(best, note), values

    def parse(self, cells: pa.ChunkedArray) -> Floats:
        """Return seconds since 1970, in the local time of each cell's time zone.

        Cells that are missing or neither in ISO 8601 nor in `format` are nan. Times of day are
        seconds since midnight.

        >>> cells = pa.chunked_array([["02/01/1970", "1970-02-30", "1970-01-01 00:01+02:00"]])
        >>> DatetimeParser("DD/MM/YYYY").parse(cells).tolist()
        [86400.0, nan, 60.0]
        """
        if pa.types.is_time(cells.type):
            return to_seconds(cells)
        if pa.types.is_timestamp(cells.type) or pa.types.is_date(cells.type):
            if pa.types.is_timestamp(cells.type) and cells.type.tz is not None:
                cells = pc.local_timestamp(cells)
            micros = pc.cast(pc.cast(cells, pa.timestamp("us"), safe=False), pa.int64())
            return to_floats(micros) / 1e6
        text = _to_text(cells)
        values = _parse_format(text, ISO)
        if self.format != ISO:
            values = np.where(np.isnan(values), _parse_format(text, self.format), values)
        return values


def _to_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as text, numbers such as 20240131.0 without a decimal point."""
    return as_text(column) if is_text(column.type) else to_categories(column)


def _parse_format(text: pa.ChunkedArray, form: str) -> Floats:
    """Return seconds since 1970 of cells in a format; nan for others and for invalid dates."""
    found = pc.extract_regex(text, FORMATS[form])
    if found.null_count == len(found):
        return np.full(len(found), np.nan)
    year, day, hour, minute, second = (
        _digits(found, name) for name in ("year", "day", "hour", "minute", "second")
    )
    if form in MONTH_FORMATS:
        day = np.where(np.isnan(year), np.nan, 1)
    if form in (MONTH_NAMED, NAMED_MONTH_YEAR):
        names = pc.utf8_lower(pc.struct_field(found, "month"))
        month = to_floats(pc.index_in(names, pa.array(MONTHS))) + 1
    else:
        month = _digits(found, "month")
    if form == CLOCK:
        year, month, day = (np.where(np.isnan(hour), np.nan, first) for first in (1970, 1, 1))
    is_short = to_floats(pc.equal(pc.utf8_length(pc.struct_field(found, "year")), 2)) == 1
    year = year + is_short * np.where(year < FIRST_YEAR_OF_1900S, 2000, 1900)
    half = pc.utf8_lower(pc.struct_field(found, "half"))
    hour = np.where(to_floats(pc.is_in(half, pa.array(["a", "p"]))) == 1, hour % 12, hour)
    hour = hour + 12 * (to_floats(pc.equal(half, "p")) == 1)
    with np.errstate(invalid="ignore"):
        is_valid = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
        is_valid &= (hour <= 23) & (minute <= 59) & (second <= 59)
    months = np.where(is_valid, 12 * (year - 1970) + month - 1, 0).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(np.int64) + np.where(is_valid, day - 1, 0)
    is_valid &= days < (months + 1).astype("datetime64[D]").astype(np.int64)
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    fraction = pc.utf8_rpad(pc.struct_field(found, "fraction"), 6, "0")
    micros = np.nan_to_num(to_floats(pc.cast(pc.utf8_slice_codeunits(fraction, 0, 6), pa.int64())))
    return np.where(is_valid, (seconds * 1e6 + micros) / 1e6, np.nan)


def _digits(found: pa.ChunkedArray, name: str) -> Floats:
    digits = pc.struct_field(found, name)
    return to_floats(pc.cast(pc.if_else(pc.equal(digits, ""), "0", digits), pa.int64()))
