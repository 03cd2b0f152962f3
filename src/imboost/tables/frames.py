"""Data frames, arrays and files as Arrow tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from imboost.errors import DataError
from imboost.tables.column_names import check_unique
from imboost.tables.files import TableFiles


def to_arrow(source: Any) -> pa.Table:
    """Return a data frame, a matrix or the table in a file as an Arrow table.

    Parameters
    ----------
    source : pandas, polars or Arrow table, array of shape (rows, columns), or path
        A path leads to a CSV or Parquet file or to a folder of them. The columns of an array
        are called "0", "1" and so on. The index of a pandas frame is ignored; `reset_index`
        makes it a column.

    Examples
    --------
    >>> to_arrow(np.array([[1.0, 2.0], [3.0, 4.0]])).column_names
    ['0', '1']
    """
    if isinstance(source, pa.Table):
        table = source
    elif isinstance(source, str | Path):
        return TableFiles.find(source).read()
    elif isinstance(source, np.ndarray | list):
        table = _from_array(np.asarray(source))
    else:
        try:
            # The index of a pandas frame is not a column.
            table = nw.maybe_reset_index(nw.from_native(source, eager_only=True)).to_arrow()
        except pa.ArrowException as error:  # before TypeError, which some of these are
            # For a pandas frame, the second part names the column.
            text = "; ".join(str(part).partition("\n")[0] for part in error.args)
            raise DataError(f"The table holds cells that do not fit together: {text}.") from error
        except TypeError:
            raise DataError(
                "A table must be a pandas, polars or Arrow table, an array or the path of a "
                f"file, got {type(source).__name__}."
            ) from None
    check_unique(table.column_names, "The table")
    return table


def _from_array(array: np.ndarray[Any, Any]) -> pa.Table:
    if array.ndim != 2:
        raise DataError(f"A table has rows and columns, got an array of shape {array.shape}.")
    return pa.table({str(number): column for number, column in enumerate(array.T)})
