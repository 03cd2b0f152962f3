"""What the cells of a column say, whatever they are stored as: numbers, times or words."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
DECIMAL_COMMA = r"^[+-]?\d+,\d+$"
ISO_TIME = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?$"
ZONE = r"(Z|[+-]\d{2}:?\d{2})$"
DATE_FORMATS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y%m%d")
TRUE_WORDS = ("true", "yes", "y", "t")
FALSE_WORDS = ("false", "no", "n", "f")

LARGEST = 1e300
"""Infinite numbers count as this large."""


def is_flat(kind: pa.DataType) -> bool:
    """Whether cells of this type hold one value each that can be looked at."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_primitive(kind)
        or is_wordy(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    )


def is_wordy(kind: pa.DataType) -> bool:
    """Whether cells of this type hold text."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without dictionary; not-a-number counts as missing."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if pa.types.is_null(column.type):
        column = pc.cast(column, pa.string())
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    return column


def numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return a column as numbers; nan where a cell is missing or says no number.

    >>> numbers(pa.chunked_array([["1", "2,5", None, "many"]])).tolist()
    [1.0, 2.5, nan, nan]
    """
    column = plain(column)
    if is_wordy(column.type):
        words = pc.utf8_trim_whitespace(column)
        comma = pc.match_substring_regex(words, DECIMAL_COMMA)
        words = pc.if_else(comma, pc.replace_substring(words, ",", "."), words)
        words = pc.if_else(pc.match_substring_regex(words, NUMBER), words, None)
        column = pc.cast(words, pa.float64())
    elif pa.types.is_duration(column.type) or pa.types.is_time(column.type):
        column = pc.cast(column, pa.int64() if column.type.bit_width == 64 else pa.int32())
    values = _as_floats(column)
    return np.where(np.isnan(values), np.nan, np.clip(values, -LARGEST, LARGEST))


def times(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return a column as seconds since 1970, in the clock of the cell's own time zone.

    Cells that are missing or say no time are nan.

    >>> times(pa.chunked_array([["1970-01-02", "1970-01-01 00:01+02:00", "soon"]])).tolist()
    [86400.0, 60.0, nan]
    """
    column = plain(column)
    if is_wordy(column.type):
        column = _parse_times(pc.utf8_trim_whitespace(column))
    elif pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = pc.local_timestamp(column)
    micros = pc.cast(pc.cast(column, pa.timestamp("us"), safe=False), pa.int64())
    return _as_floats(micros) / 1e6


def words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as text without spaces around it; null where a cell is missing."""
    column = plain(column)
    return pc.utf8_trim_whitespace(pc.cast(column, pa.string()))


def truths(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return a column of yes and no as 1 and 0; nan where a cell is missing or says neither."""
    column = plain(column)
    if pa.types.is_boolean(column.type):
        return _as_floats(column)
    values = numbers(column)
    said = np.where(np.isin(values, (0.0, 1.0)), values, np.nan)
    if not is_wordy(column.type):
        return said
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    for truth, spellings in ((1.0, TRUE_WORDS), (0.0, FALSE_WORDS)):
        spelled = pc.fill_null(pc.is_in(lower, pa.array(spellings)), False)
        said[spelled.to_numpy(zero_copy_only=False)] = truth
    return said


def _parse_times(words: pa.ChunkedArray) -> pa.ChunkedArray:
    """Read ISO times, or dates in the format that suits most of the others."""
    local = pc.replace_substring_regex(words, ZONE, "")
    iso = pc.if_else(pc.match_substring_regex(local, ISO_TIME), local, None)
    parsed = [pc.cast(iso, pa.timestamp("us"))]
    parsed += [pc.strptime(words, name, "us", error_is_null=True) for name in DATE_FORMATS]
    return max(parsed, key=lambda column: column.length() - column.null_count)


def _as_floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    floats = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)
