"""The table of a session, and a hash by which the session recognises it."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from imboost.detectors.detector import Detector
from imboost.errors import SessionError
from imboost.scoring.table_sample import TableSample
from imboost.session.log import Started


def fingerprint(X: Any) -> str:
    """Return a hash of the column names and values of an array, data frame or Arrow table.

    It is the same in every process. Missing values count, and so does the order of rows.

    >>> fingerprint([[1.0, 2.0]]) == fingerprint(np.array([[1, 2]]))
    True
    """
    columns: Iterable[tuple[Any, NDArray[Any]]]
    if hasattr(X, "columns"):
        frame = nw.from_native(X, eager_only=True)
        columns = ((column.name, column.to_numpy()) for column in frame.iter_columns())
    else:
        columns = enumerate(np.asarray(X).T)
    digest = sha256()
    for name, values in columns:
        digest.update(f"{name}\0".encode())
        digest.update(_to_bytes(values))
    return digest.hexdigest()


def _to_bytes(values: NDArray[Any]) -> bytes:
    if values.dtype.kind in "biuf":
        numbers = values.astype("<f8")
        return np.where(np.isnan(numbers), np.nan, numbers).tobytes()  # one bit pattern for nan
    return "\0".join(map(str, values.tolist())).encode()


def read_table(
    X: Any, detector: Detector, random_state: int | np.random.RandomState | None = None
) -> tuple[TableSample | None, Any]:
    """Read the table if X is a path; return its candidate pool, if it is large, and its rows."""
    if isinstance(X, str | Path):
        from imboost.scoring.candidate_pool import read_or_draw  # needs pyarrow, unlike matrices

        X = read_or_draw(X, detector, random_state if isinstance(random_state, int) else 0)
    return (X, X.table) if isinstance(X, TableSample) else (None, X)


def shape_of(X: Any) -> tuple[int, int]:
    """Return the numbers of rows and columns."""
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise SessionError(f"X must be a table with rows and columns, got shape {shape}.")
    return int(shape[0]), int(shape[1])


def check_table(started: Started, shape: tuple[int, int], found: str) -> None:
    """Raise if a session was started with another table."""
    if (started.n_rows, started.n_features) != shape:
        raise SessionError(
            f"The session belongs to a table of {started.n_rows:,} rows and {started.n_features} "
            f"columns, this one has {shape[0]:,} and {shape[1]}."
        )
    if started.fingerprint != found:
        raise SessionError(
            "The session belongs to a table with other values, column names or order of rows. "
            "Open it with that table, or start another session."
        )
