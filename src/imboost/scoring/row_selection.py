"""Select a few rows of a table of any size: by name, by score or at random."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats, Indices
from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError
from imboost.scoring.pipeline import ScoredBatch, scan
from imboost.tables.cells import to_text
from imboost.tables.files import TableFiles
from imboost.tables.roles import Role

UNNAMED = "identifier"  # shown for a column without a name, such as the index pandas writes


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """Some rows of a table."""

    table: pa.Table
    numbers: list[int]  # row numbers in the complete table, from 0
    n_read: int  # number of rows that were read to select them

    def names(self, identifier: str | None) -> list[str]:
        """Return the identifier of every row, or its number if it has none."""
        if identifier is None or identifier not in self.table.column_names:
            return [f"row {number}" for number in self.numbers]
        values = to_text(self.table.column(identifier)).to_pylist()
        return [
            f"row {number}" if value is None else f"{identifier or UNNAMED} {value}"
            for number, value in zip(self.numbers, values, strict=True)
        ]


class TopRows:
    """Keeps the `n` rows with the largest keys of a table that is read in batches.

    >>> top = TopRows(2)
    >>> top.add(0, pa.table({"a": ["x", "y"]}), np.array([0.5, 0.9]))
    >>> top.add(2, pa.table({"a": ["z"]}), np.array([0.7]))
    >>> top.selected().numbers
    [1, 2]
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._n_read = 0
        self._keys: Floats = np.zeros(0)
        self._numbers: Indices = np.zeros(0, dtype=np.int64)
        self._tables: list[pa.Table] = []  # joined: the kept rows, and those that may be kept
        self._lowest = -np.inf  # key that a row has to exceed, once `n` rows are kept

    def add(self, first_row: int, table: pa.Table, keys: Floats) -> None:
        """Add a batch of rows; `first_row` is the number of the first one."""
        self.add_rows(np.arange(first_row, first_row + table.num_rows), table, keys)

    def add_rows(self, numbers: Indices, table: pa.Table, keys: Floats) -> None:
        """Add rows with these row numbers."""
        self._n_read += table.num_rows
        new = np.flatnonzero(keys > self._lowest)
        if len(new) or not self._tables:
            self._tables.append(table if len(new) == len(keys) else table.take(pa.array(new)))
            self._keys = np.concatenate([self._keys, keys[new]])
            self._numbers = np.concatenate([self._numbers, numbers[new]])
        if len(self._keys) >= 2 * self._n:  # not at every batch, which would copy many rows
            self._remove_lowest()

    def watch(self, batches: Iterable[ScoredBatch]) -> Iterator[ScoredBatch]:
        """Yield scored batches, and add each of them by its scores."""
        for batch in batches:
            self.add(batch.first_row, batch.table, batch.predictions.scores)
            yield batch

    def _remove_lowest(self) -> None:
        """Sort the rows by descending key and keep the first `n`."""
        if not self._tables:
            return
        kept = np.argsort(-self._keys, kind="stable")[: self._n]
        try:
            joined = pa.concat_tables(self._tables, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(f"The type of a column changes within the table: {error}.") from error
        self._tables = [joined.take(pa.array(kept))]
        self._keys, self._numbers = self._keys[kept], self._numbers[kept]
        if len(kept) == self._n:
            self._lowest = self._keys[-1]

    @property
    def keys(self) -> Floats:
        """The keys of the rows, the largest first."""
        self._remove_lowest()
        return self._keys

    def selected(self) -> SelectedRows:
        """Return the rows, the largest key first."""
        if not len(self._keys):
            raise DataError("The table has a header but no rows.")
        return self.first(self._n)

    def first(self, n: int) -> SelectedRows:
        """Return the first `n` rows, the largest key first; fewer if there are fewer."""
        self._remove_lowest()
        table = self._tables[0].slice(0, n) if self._tables else pa.table({})
        return SelectedRows(table, self._numbers[:n].tolist(), self._n_read)


def find_rows(files: TableFiles, identifier: str | None, wanted: Sequence[str]) -> SelectedRows:
    """Return the first row with each of the wanted identifiers or row numbers."""
    names = [_row_number(text) if identifier is None else text.strip() for text in wanted]
    found: dict[str, tuple[int, pa.Table]] = {}
    example, n_read = "", 0
    for first_row, table, _ in scan(files.batches()):
        missing = [name for name in dict.fromkeys(names) if name not in found]
        if not missing:
            break
        n_read = first_row + table.num_rows
        keys = _keys_of(first_row, table, identifier).combine_chunks()
        example = example or next((f", such as {key}" for key in keys.to_pylist() if key), "")
        at = pc.index_in(pa.array(missing), value_set=keys).to_pylist()
        for name, offset in zip(missing, at, strict=True):
            if offset is not None:
                found[name] = (first_row + offset, table.slice(offset, 1))
    missing_names = ", ".join(name for name in names if name not in found)
    if missing_names and identifier is None:
        raise DataError(f"There is no row {missing_names}; rows are numbered from 0.")
    if missing_names:
        column = identifier or UNNAMED
        raise DataError(
            f"No row has the {column} {missing_names}. Give a value of {column}{example}."
        )
    rows = [found[name] for name in names]
    joined = pa.concat_tables([table for _, table in rows], promote_options="permissive")
    return SelectedRows(joined, [number for number, _ in rows], n_read)


def _keys_of(first_row: int, table: pa.Table, identifier: str | None) -> pa.ChunkedArray:
    """Return the identifiers of rows, or their numbers as text."""
    if identifier is None:
        numbers = pa.chunked_array([np.arange(first_row, first_row + table.num_rows)])
        return pc.cast(numbers, pa.string())
    if identifier not in table.column_names:
        raise DataError(
            f"The table lacks the identifier column '{identifier}', needed to find a row."
        )
    return to_text(table.column(identifier))


def _row_number(text: str) -> str:
    if not text.strip().isdecimal():
        raise DataError(
            f"The table has no identifier column: give a row number, counted from 0; got '{text}'."
        )
    return str(int(text))


def identifier_columns(detector: TableDetector) -> list[str]:
    """Return the names of the identifier columns."""
    return [column.name for column in detector.schema_ if column.role == Role.IDENTIFIER]
