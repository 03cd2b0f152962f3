"""Ids of the rows of a session, and the positions of these rows in its table."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from imboost.arrays import Indices
from imboost.errors import SessionError
from imboost.labels import Labels, unlabelled


class RowIds:
    """Translates row ids into positions in a session's `X`, and back.

    The log, questions and answers name rows by their id; arrays such as scores and labels are
    indexed by position. A row's id is its number in the complete table.

    Parameters
    ----------
    numbers : array of shape (n_positions,)
        The row number at each position, ascending.
    n_table_rows : int
        Number of rows of the complete table.
    """

    def __init__(self, numbers: Indices, n_table_rows: int) -> None:
        self.numbers = numbers
        self.n_table_rows = n_table_rows

    def __len__(self) -> int:
        return len(self.numbers)

    def ids(self, positions: Any) -> list[int]:
        """Return the ids of the rows at some positions."""
        found: list[int] = self.numbers[np.asarray(positions, dtype=np.int64)].tolist()
        return found

    def position(self, row: int) -> int:
        """Return the position of a row.

        Raises
        ------
        SessionError
            If there is no such row in `X`.
        """
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
        found = unlabelled(len(self))
        rows = np.fromiter(labels, dtype=np.int64, count=len(labels))
        found[np.searchsorted(self.numbers, rows)] = list(labels.values())
        return found
