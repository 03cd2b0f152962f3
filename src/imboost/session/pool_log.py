"""The log of a session on a candidate pool, with row numbers of the complete table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from imboost.arrays import Indices
from imboost.errors import SessionError
from imboost.session.log import Entry, Refined, SessionLog, Started


class RowIds:
    """Row numbers in a complete table, and the positions of these rows in a pool.

    Parameters
    ----------
    rows : array of shape (n_positions,)
        The row number of each position, ascending.
    """

    def __init__(self, rows: Indices) -> None:
        self.rows = rows

    def id(self, position: int) -> int:
        """Return the row number at a position."""
        return int(self.rows[position])

    def position(self, row: int) -> int:
        """Return the position of a row.

        Raises
        ------
        SessionError
            If the row is not in the pool.
        """
        at = int(np.searchsorted(self.rows, row))
        if at == len(self.rows) or self.rows[at] != row:
            raise SessionError(
                f"Row {row} is not among the {len(self.rows):,} rows of the session's pool."
            )
        return at


class PoolLog:
    """Stores row numbers in place of positions in the pool.

    Parameters
    ----------
    log : SessionLog
        What it stores can be read without the pool.
    ids : RowIds
    n_rows : int
        Number of rows of the complete table.
    """

    def __init__(self, log: SessionLog, ids: RowIds, n_rows: int) -> None:
        self._log, self._ids, self._n_rows = log, ids, n_rows

    def append(self, entries: Sequence[Entry]) -> None:
        """Store all entries or none."""
        self._log.append([self._outward(entry) for entry in entries])

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all entries, oldest first."""
        return map(self._inward, self._log)

    def close(self) -> None:
        """Release files and connections."""
        self._log.close()

    def _outward(self, entry: Entry) -> Entry:
        if isinstance(entry, Started):
            return replace(entry, n_rows=self._n_rows)
        return entry if isinstance(entry, Refined) else replace(entry, row=self._ids.id(entry.row))

    def _inward(self, entry: Entry) -> Entry:
        if isinstance(entry, Started):
            if entry.n_rows != self._n_rows:
                raise SessionError(
                    f"The session belongs to a table of {entry.n_rows:,} rows, this one has "
                    f"{self._n_rows:,}."
                )
            return replace(entry, n_rows=len(self._ids.rows))
        if isinstance(entry, Refined):
            return entry
        return replace(entry, row=self._ids.position(entry.row))
