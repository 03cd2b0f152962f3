"""Cells of a column, whatever Arrow type stores them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats
from imboost.errors import DataError, first_line

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


def value_counts(column: pa.ChunkedArray) -> dict[Any, int]:
    """Return the number of cells with each value that is not null."""
    counted = pc.value_counts(column.drop_null()).to_pylist()
    return {entry["values"]: entry["counts"] for entry in counted}


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


def to_cell(value: Any) -> str | None:
    """Return a value as text, in the form in which CSV files have it; None if it is missing.

    >>> [to_cell(value) for value in (12.0, 0.5, True, datetime(2024, 1, 2), "x", None)]
    ['12', '0.5', 'true', '2024-01-02', 'x', None]
    """
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        is_short = number.is_integer() and abs(number) < 1e15
        return str(int(number)) if is_short else decimal_text(str(number))
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(value, timedelta):
        return str(value.total_seconds())
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return str(value)


def decimal_text(number: str) -> str:
    """Append a zero to a number whose point could separate thousands, so that it cannot.

    >>> [decimal_text(number) for number in ("4.111", "-12.5", "1234.125", "0.5e7")]
    ['4.1110', '-12.5', '1234.125', '0.5e7']
    """
    return f"{number}0" if re.fullmatch(r"-?\d{1,3}\.\d{3}", number) else number


def text_reader(
    names: Sequence[str], rows: Iterable[Sequence[Any]], n_rows: int
) -> pa.RecordBatchReader:
    """Return rows of any values as text, `n_rows` in a batch."""
    schema = pa.schema([(name, pa.string()) for name in names])
    left = iter(rows)

    def batches() -> Iterator[pa.RecordBatch]:
        while part := list(islice(left, n_rows)):
            columns = (list(map(to_cell, cells)) for cells in zip(*part, strict=True))
            yield pa.record_batch([pa.array(cells, pa.string()) for cells in columns], schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # those of pandas
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def check_cells(table: pa.Table, where: str) -> pa.Table:
    """Return a table whose columns can be computed with; raise, naming the column, otherwise.

    Arrow does not check cells by itself: text that is not UTF-8, or offsets beyond the end of a
    column, would fail anywhere later or end the process.
    """
    if table.num_columns == 0:
        raise DataError(f"{where} has no columns.")
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            column.validate(full=True)
            columns[name] = _plain(column)
            pc.take(columns[name].slice(0, 0), pa.array([], pa.int64()))
            _check_time_zone(columns[name].type)
        except (pa.ArrowException, OverflowError) as error:
            raise DataError(
                f"{where}, column '{name}': {_describe(column.type, error)}"
            ) from error
    return pa.table(columns)


def _check_time_zone(kind: pa.DataType) -> None:
    """Raise an ArrowInvalid if the system does not know the time zone of a type."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        pa.array([0], kind).cast(pa.string())


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in a type that all functions of Arrow know, if there is one."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(column.cast(kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        return _plain(pc.run_end_decode(column))
    if pa.types.is_dictionary(kind):
        return _with_plain_dictionary(column)
    if pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_binary_view(kind):
        return column.cast(pa.binary())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    return column


def _with_plain_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices, _plain(pa.chunked_array([chunk.dictionary])).combine_chunks()
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks) if chunks else column.cast(column.type.value_type)


def _describe(kind: pa.DataType, error: Exception) -> str:
    text = first_line(error)
    if "UTF8" in text:
        return "it holds text that is not UTF-8; write it in that encoding."
    if "timezone" in text.lower():
        return f"its type {kind} has a time zone that is not known; write the times in UTC."
    if isinstance(error, pa.ArrowNotImplementedError):
        return (
            f"cells of the type {kind} cannot be read; leave the column out or write it as text."
        )
    return f"its cells are damaged: {text}."
