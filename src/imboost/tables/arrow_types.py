"""Check Arrow tables from outside: unusable types, damaged cells, unknown time zones."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from imboost.errors import DataError


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
    text = str(error).splitlines()[0].rstrip(".")
    if "UTF8" in text:
        return "it holds text that is not UTF-8; write it in that encoding."
    if "timezone" in text.lower():
        return f"its type {kind} has a time zone that is not known; write the times in UTC."
    if isinstance(error, pa.ArrowNotImplementedError):
        return (
            f"cells of the type {kind} cannot be read; leave the column out or write it as text."
        )
    return f"its cells are damaged: {text}."
