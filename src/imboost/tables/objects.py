"""Python objects as cells: numbers, text, dates and times, also mixed in one column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from numbers import Number
from typing import Any

import numpy as np
import pyarrow as pa

from imboost.errors import DataError

KINDS: tuple[type | tuple[type, ...], ...] = (
    (bool, np.bool_),
    (Decimal,),
    (Number, np.number),
    str,
    datetime,
    date,
    time,
    (timedelta, np.timedelta64),
    bytes,
)
"""Kinds of cells, a subclass before its base class. Cells of one kind have one Arrow type."""


def to_cell(value: Any) -> str | None:
    """Return a value as text, in the form in which CSV files have it; None if it is missing.

    >>> [to_cell(value) for value in (12.0, 0.5, True, datetime(2024, 1, 2), "x", None)]
    ['12', '0.5', 'true', '2024-01-02', 'x', None]
    """
    if _is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else str(number)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(value, timedelta):
        return str(value.total_seconds())
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return str(value)


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


def object_column(name: str, values: Sequence[Any]) -> pa.Array:
    """Return values as an Arrow column: with their type if they have one, otherwise as text.

    >>> object_column("size", [1, 2.5, None]).type, object_column("size", [1, "many"]).type
    (DataType(double), DataType(string))
    """
    kinds = {_kind(value) for value in values if not _is_missing(value)}
    if None in kinds:
        other = next(type(value) for value in values if _kind(value) is None)
        if len(kinds) > 1:
            raise DataError(
                f"Column '{name}' mixes cells of the type {other.__name__} with others: give "
                "every cell one number, text, date or boolean."
            )
    if len(kinds) <= 1:
        try:
            return pa.array(values, from_pandas=True)
        except (pa.ArrowException, OverflowError) as error:
            if None in kinds:
                text = str(error).splitlines()[0]
                raise DataError(f"Column '{name}' cannot be read: {text}.") from error
    return pa.array(list(map(to_cell, values)), pa.string())


def record_table(records: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return a list of dictionaries as a table; a key that a dictionary lacks is missing.

    >>> record_table([{"a": 1}, {"a": "x", "b": 2}]).to_pydict()
    {'a': ['1', 'x'], 'b': [None, 2]}
    """
    names = dict.fromkeys(name for record in records for name in record)
    columns = {
        str(name): object_column(str(name), [record.get(name) for record in records])
        for name in names
    }
    return pa.table(columns)


def _kind(value: Any) -> int | None:
    """Return the number of a cell's kind; None if it is not a single cell."""
    return next((at for at, kind in enumerate(KINDS) if isinstance(value, kind)), None)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # those of pandas
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
