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
            if pa.types.is_temporal(columns[name].type):
                _plain(columns[name].slice(0, 1)).cast(pa.string())
        except (pa.ArrowException, OverflowError) as error:
            raise DataError(
                f"{where}, column '{name}': {_describe(column.type, error)}"
            ) from error
    return pa.table(columns)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in a type that all functions of Arrow know, if there is one."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(column.cast(kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        return _plain(pc.run_end_decode(column))
    is_dictionary = pa.types.is_dictionary(kind)
    if pa.types.is_string_view(kind.value_type if is_dictionary else kind):
        return column.cast(pa.string())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    return column


def _describe(kind: pa.DataType, error: Exception) -> str:
    text = str(error).splitlines()[0].rstrip(".")
    if "UTF8" in text:
        return "it holds text that is not UTF-8; write it in that encoding."
    if "timezone" in text.lower():
        return f"the time zone '{kind.tz}' is not known; write the times in UTC."
    if isinstance(error, pa.ArrowNotImplementedError):
        return (
            f"cells of the type {kind} cannot be read; leave the column out or write it as text."
        )
    return f"its cells are damaged: {text}."
