"""A few rows out of a table of any size: those asked for, the highest scores, a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.errors import DataError
from imboost.scoring.streaming import pieces
from imboost.tables.cells import to_text
from imboost.tables.files import TableFiles

UNNAMED = "identifier"
"""What an identifier without a name is called, such as the index that pandas writes."""


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """Rows, and which ones they are.

    Parameters
    ----------
    table : Arrow table
    numbers : list of int
        Where they stand in the whole table, counted from 0.
    """

    table: pa.Table
    numbers: list[int]

    def names(self, identifier: str | None) -> list[str]:
        """Return what a reader calls the rows: by their identifier, or by their number."""
        if identifier is None or identifier not in self.table.column_names:
            return [f"row {number}" for number in self.numbers]
        said = to_text(self.table.column(identifier)).to_pylist()
        return [
            f"row {number}" if word is None else f"{identifier or UNNAMED} {word}"
            for number, word in zip(self.numbers, said, strict=True)
        ]


class BestRows:
    """The rows with the largest keys among all that were added.

    Parameters
    ----------
    n : int
        How many are kept.

    Examples
    --------
    >>> best = BestRows(2)
    >>> best.add(0, pa.table({"a": ["x", "y"]}), np.array([0.5, 0.9]))
    >>> best.add(2, pa.table({"a": ["z"]}), np.array([0.7]))
    >>> best.chosen().numbers
    [1, 2]
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._keys: NDArray[np.float64] = np.zeros(0)
        self._numbers: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._table: pa.Table | None = None

    def add(self, first: int, table: pa.Table, keys: NDArray[np.float64]) -> None:
        """Look at rows whose first one has the number `first`."""
        joined_keys = np.concatenate([self._keys, keys])
        kept = np.argsort(-joined_keys, kind="stable")[: self._n]
        n_before = len(self._keys)
        self._numbers = np.concatenate([self._numbers, first + np.arange(len(keys))])[kept]
        self._keys = joined_keys[kept]
        if self._table is None:
            self._table = table.take(pa.array(kept))
        elif (kept >= n_before).any():
            both = pa.concat_tables([self._table, table], promote_options="permissive")
            self._table = both.take(pa.array(kept))

    def chosen(self) -> ChosenRows:
        """Return the rows, the largest key first."""
        if self._table is None or not len(self._keys):
            raise DataError("The table has a header but no rows.")
        return ChosenRows(self._table, self._numbers.tolist())


def find_rows(files: TableFiles, identifier: str | None, wanted: Sequence[str]) -> ChosenRows:
    """Return the first row for every wanted value of the identifier, or for every row number.

    Raises
    ------
    DataError
        If a row is not there.
    """
    names = [_row_number(text) if identifier is None else text.strip() for text in wanted]
    found: dict[str, tuple[int, pa.Table]] = {}
    example = ""
    for first, table, _ in pieces(files):
        missing = [name for name in dict.fromkeys(names) if name not in found]
        if not missing:
            break
        keys = _keys_of(first, table, identifier).combine_chunks()
        example = example or next((f", such as {key}" for key in keys.to_pylist() if key), "")
        at = pc.index_in(pa.array(missing), value_set=keys).to_pylist()
        for name, place in zip(missing, at, strict=True):
            if place is not None:
                found[name] = (first + place, table.slice(place, 1))
    missing = [name for name in names if name not in found]
    if missing:
        if identifier is None:
            raise DataError(f"No row has the number {', '.join(missing)}; the first one has 0.")
        name = identifier or UNNAMED
        raise DataError(
            f"No row has the {name} {', '.join(missing)}. Rows are named by {name}{example}."
        )
    rows = [found[name] for name in names]
    joined = pa.concat_tables([table for _, table in rows], promote_options="permissive")
    return ChosenRows(joined, [number for number, _ in rows])


def _keys_of(first: int, table: pa.Table, identifier: str | None) -> pa.ChunkedArray:
    """Return what rows are called."""
    if identifier is None:
        numbers = pa.chunked_array([np.arange(first, first + table.num_rows)])
        return pc.cast(numbers, pa.string())
    if identifier not in table.column_names:
        raise DataError(f"Rows are named by the column '{identifier}', which the table lacks.")
    return to_text(table.column(identifier))


def _row_number(text: str) -> str:
    if not text.strip().isdecimal():
        raise DataError(
            f"The model knows no identifier: rows are named by their number from 0, got '{text}'."
        )
    return str(int(text))
