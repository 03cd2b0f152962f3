"""The rows of a session: its table, a hash that recognises it, and the ids of its rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats
from imboost.detectors.detector import Detector
from imboost.errors import SessionError
from imboost.labels import Labels, unlabelled
from imboost.scoring.table_sample import TableSample
from imboost.session.log import Started


class RowIds:
    """Translates row ids into positions in a session's `X`, and back.

    The log, questions and answers name rows by their id; arrays such as scores and labels are
    indexed by position. A row's id is its number in the complete table.

    Parameters
    ----------
    n_positions : int
        Number of rows of `X`.
    pool : TableSample, optional
        The candidate pool that `X` is, of a large table.

    Attributes
    ----------
    numbers : array of shape (n_positions,)
        The row number at each position, ascending.
    n_table_rows : int
        Number of rows of the complete table.
    """

    def __init__(self, n_positions: int, pool: TableSample | None = None) -> None:
        self.pool = pool
        self.numbers = np.arange(n_positions) if pool is None else pool.rows
        self.n_table_rows = n_positions if pool is None else pool.n_rows

    def __len__(self) -> int:
        return len(self.numbers)

    def ids(self, positions: Any) -> list[int]:
        """Return the ids of the rows at some positions."""
        ids: list[int] = self.numbers[np.asarray(positions, dtype=np.int64)].tolist()
        return ids

    def position(self, row: int) -> int:
        """Return the position of a row; raise a SessionError if it is not in `X`."""
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise SessionError(f"A row id must be a whole number, got {row!r}.")
        at = bisect_left(self.numbers, row)
        if at < len(self) and self.numbers[at] == row:
            return at
        if 0 <= row < self.n_table_rows:
            raise SessionError(
                f"Row {row} is not among the {len(self):,} rows of the session's pool."
            )
        raise SessionError(f"Row ids go from 0 to {self.n_table_rows - 1}, got {row}.")

    def positions(self, rows: Iterable[int]) -> list[int]:
        """Return the positions of rows; raise if one of them does not exist."""
        return [self.position(row) for row in rows]

    def labels(self, labels: Mapping[int, int]) -> Labels:
        """Return the label of every position, that of its row or -1; all rows must exist."""
        label_of_position = unlabelled(len(self))
        rows = np.fromiter(labels, dtype=np.int64, count=len(labels))
        label_of_position[np.searchsorted(self.numbers, rows)] = list(labels.values())
        return label_of_position

    def weights(self, labels: Labels | None = None) -> Floats | None:
        """Return how many rows of the table each row of a pool stands for; None without pool."""
        if self.pool is None:
            return None
        return self.pool.weights(unlabelled(len(self)) if labels is None else labels)


def read_table(
    X: Any, detector: Detector, random_state: int | np.random.RandomState | None = None
) -> tuple[Any, TableSample | None]:
    """Read the table if X is a path; return its rows, and its candidate pool if it is large."""
    if isinstance(X, str | Path):
        from imboost.scoring.candidate_pool import read_or_draw  # needs pyarrow, unlike matrices

        X = read_or_draw(X, detector, random_state if isinstance(random_state, int) else 0)
    return (X.table, X) if isinstance(X, TableSample) else (X, None)


def shape_of(X: Any) -> tuple[int, int]:
    """Return the numbers of rows and columns."""
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise SessionError(f"X must be a table with rows and columns, got shape {shape}.")
    return int(shape[0]), int(shape[1])


def fingerprint(X: Any) -> str:
    """Return a hash of the column names and values of an array, data frame or Arrow table.

    It is the same in every process. Missing values count, and so does the order of rows.

    >>> fingerprint([[1.0, 2.0]]) == fingerprint(np.array([[1, 2]]))
    True
    """
    columns: Iterable[tuple[Any, NDArray[Any]]]
    if isinstance(frame := nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame):
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


def check_table(started: Started, given: Started) -> None:
    """Raise if a session was started with another table than that given."""
    if (started.n_rows, started.n_features) != (given.n_rows, given.n_features):
        raise SessionError(
            f"The session belongs to a table of {started.n_rows:,} rows and {started.n_features} "
            f"columns, this one has {given.n_rows:,} and {given.n_features}."
        )
    if started.fingerprint != given.fingerprint:
        raise SessionError(
            "The session belongs to a table with other values, column names or order of rows. "
            "Open it with that table, or start another session."
        )
