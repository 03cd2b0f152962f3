"""Data frames, arrays and files as Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Number
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from imboost.errors import DataError, first_line
from imboost.tables.cells import check_cells, is_missing, to_cell
from imboost.tables.files import TableFiles
from imboost.tables.names import check_unique

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


def to_arrow(source: Any) -> pa.Table:
    """Return a data frame, a matrix, a list of dictionaries or the table in a file in Arrow form.

    Parameters
    ----------
    source : pandas, polars or Arrow table, array of shape (rows, columns), list of dict, or path
        A path leads to a file of one of `imboost.tables.files.FORMATS` or to a folder of them.
        Lazy frames are collected. The columns of an array are called "0", "1" and so on. The
        index of a pandas frame is ignored; `reset_index` makes it a column. A column that mixes
        numbers and text is read as text.

    Examples
    --------
    >>> to_arrow(np.array([[1.0, 2.0], [3.0, 4.0]])).column_names
    ['0', '1']
    >>> to_arrow([{"size": 1}, {"size": "many"}]).to_pydict()
    {'size': ['1', 'many']}
    """
    if isinstance(source, str | Path):
        return TableFiles.find(source).read()
    if isinstance(source, pa.Table):
        table = source
    elif isinstance(source, list) and source and all(isinstance(row, dict) for row in source):
        names = dict.fromkeys(name for row in source for name in row)
        table = _object_table({str(name): [row.get(name) for row in source] for name in names})
    elif isinstance(source, np.ndarray | list):
        array = np.asarray(source)
        if array.ndim != 2:
            raise DataError(f"A table has rows and columns, got an array of shape {array.shape}.")
        columns = {str(number): column for number, column in enumerate(array.T)}
        table = _object_table(columns) if array.dtype == object else pa.table(columns)
    else:
        table = _from_frame(source)
    check_unique(table.column_names, "The table")
    return check_cells(table, "The table")


def _from_frame(source: Any) -> pa.Table:
    try:
        frame = nw.from_native(source)
    except TypeError:
        raise DataError(
            "A table must be a pandas, polars or Arrow table, an array, a list of dictionaries or "
            f"the path of a file, got {type(source).__name__}."
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    names = [str(name) for name in frame.columns]
    columns = [
        object_column(name, column.to_list()) if column.dtype == nw.Object else column.to_arrow()
        for name, column in zip(names, frame.iter_columns(), strict=True)
    ]
    return pa.table(columns, names=names)


def object_column(name: str, values: Sequence[Any]) -> pa.Array:
    """Return values as an Arrow column: with their type if they have one, otherwise as text.

    >>> object_column("size", [1, 2.5, None]).type, object_column("size", [1, "many"]).type
    (DataType(double), DataType(string))
    """
    kinds = {_kind(value) for value in values if not is_missing(value)}
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
                raise DataError(f"Column '{name}' cannot be read: {first_line(error)}.") from error
    return pa.array(list(map(to_cell, values)), pa.string())


def _object_table(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    return pa.table({name: object_column(name, list(column)) for name, column in columns.items()})


def _kind(value: Any) -> int | None:
    """Return the number of a cell's kind; None if it is not a single cell."""
    return next((at for at, kind in enumerate(KINDS) if isinstance(value, kind)), None)
