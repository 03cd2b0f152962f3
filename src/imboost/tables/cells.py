"""Cells of a column, whatever Arrow type stores them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats

MISSING_STRINGS = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "-nan")
"""Text that stands for a missing value by default, as in pandas; so does an empty cell."""


def is_supported(kind: pa.DataType) -> bool:
    """Whether cells of this type hold one number, boolean, time or text each."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_interval(kind):  # a primitive type of several numbers
        return False
    checks = (pa.types.is_primitive, is_text, pa.types.is_decimal, pa.types.is_null)
    return any(check(kind) for check in checks)


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of this type hold text."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def mask_missing(
    column: pa.ChunkedArray, missing: Sequence[str] = MISSING_STRINGS
) -> pa.ChunkedArray:
    """Return a column without dictionary encoding, with null for NaN and text in `missing`.

    Spaces around text do not matter; cells without any other character are always null.
    """
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if pa.types.is_null(column.type) or pa.types.is_string_view(column.type):
        column = pc.cast(column, pa.string())
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    if is_text(column.type):
        strings = pa.array(["", *missing], column.type)
        column = pc.if_else(pc.is_in(pc.utf8_trim_whitespace(column), strings), None, column)
    return column


def to_text(column: pa.ChunkedArray, missing: Sequence[str] = MISSING_STRINGS) -> pa.ChunkedArray:
    """Return a column as text without spaces around it; null where a cell is missing."""
    return as_text(mask_missing(column, missing))


def as_text(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the cells of `mask_missing` as text without spaces around it."""
    kind = cells.type
    if pa.types.is_duration(kind):
        cells = pa.chunked_array([pa.array(to_seconds(cells), from_pandas=True)])
    text = pc.utf8_trim_whitespace(pc.cast(cells, pa.string()))
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        text = pc.replace_substring_regex(text, r"\.0+($|Z|[+-])", r"\1")  # fractions of zero
    return text


def to_floats(column: pa.ChunkedArray) -> Floats:
    """Return a column of numbers or booleans as floats; nan where a cell is null."""
    floats = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def to_seconds(column: pa.ChunkedArray) -> Floats:
    """Return durations, or times of day since midnight, in seconds."""
    kind = pa.time64("us") if pa.types.is_time(column.type) else pa.duration("us")
    return to_floats(pc.cast(pc.cast(column, kind, safe=False), pa.int64())) / 1e6
