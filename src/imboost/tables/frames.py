"""Data frames, arrays and files as Arrow tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from imboost.errors import DataError
from imboost.tables.arrow_types import check_cells
from imboost.tables.column_names import check_unique
from imboost.tables.files import TableFiles
from imboost.tables.objects import object_column, record_table


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
        table = record_table(source)
    elif isinstance(source, np.ndarray | list):
        table = _from_array(np.asarray(source))
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


def _from_array(array: np.ndarray[Any, Any]) -> pa.Table:
    if array.ndim != 2:
        raise DataError(f"A table has rows and columns, got an array of shape {array.shape}.")
    return pa.table(
        {
            str(number): object_column(str(number), column.tolist())
            if column.dtype == object
            else column
            for number, column in enumerate(array.T)
        }
    )
