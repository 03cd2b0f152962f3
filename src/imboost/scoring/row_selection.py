"""Select a few rows of a table of any size: by name, by score or at random."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats, Indices, Mask
from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError, UnknownNameError
from imboost.labels import TEXT_LABELS, UNLABELLED
from imboost.present.formatting import count
from imboost.scoring.pipeline import ScoredBatch, scan
from imboost.scoring.table_sample import TableSample
from imboost.tables.cells import to_text
from imboost.tables.files import TableFiles
from imboost.tables.names import UNNAMED, parse_row_name, row_name
from imboost.tables.roles import Role

MAX_ROWS = 200_000  # training rows; a model of more rows of a table is hardly better
MAX_CELLS = 4_000_000  # training cells: wide tables have fewer training rows, for bounded memory

UNLABELLED_TEXTS = [text for text, label in TEXT_LABELS.items() if label == UNLABELLED]


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """Some rows of a table."""

    table: pa.Table
    numbers: list[int]  # row numbers in the complete table, from 0
    n_read: int  # number of rows that were read to select them

    def names(self, identifier: str | None) -> list[str]:
        """Return the identifier of every row, or its number if it has none."""
        values: list[str | None] = [None] * len(self.numbers)
        if identifier in self.table.column_names:
            values = to_text(self.table.column(identifier)).to_pylist()
        pairs = zip(self.numbers, values, strict=True)
        return [row_name(number, identifier, value) for number, value in pairs]


class TopRows:
    """Keeps the `n` rows with the largest keys above `lowest` of a table that is read in batches.

    >>> top = TopRows(2)
    >>> top.add(0, pa.table({"a": ["x", "y"]}), np.array([0.5, 0.9]))
    >>> top.add(2, pa.table({"a": ["z"]}), np.array([0.7]))
    >>> top.selected().numbers
    [1, 2]
    """

    def __init__(self, n: int, lowest: float = -np.inf) -> None:
        self.n = n
        self.tables: list[pa.Table] = []  # joined: the kept rows, and those that may be kept
        self._n_read = 0
        self._keys: Floats = np.zeros(0)
        self._numbers: Indices = np.zeros(0, dtype=np.int64)
        self._lowest = lowest  # grows as soon as `n` rows are kept

    def add(self, rows: int | Indices, table: pa.Table, keys: Floats) -> None:
        """Add rows with their row numbers, or consecutive rows with the number of the first."""
        numbers = rows + np.arange(table.num_rows) if isinstance(rows, int) else rows
        self._n_read += table.num_rows
        new = np.flatnonzero(keys > self._lowest)
        if len(new) or not len(keys):  # a table without rows has types all the same
            self.tables.append(table if len(new) == len(keys) else table.take(pa.array(new)))
            self._keys = np.concatenate([self._keys, keys[new]])
            self._numbers = np.concatenate([self._numbers, numbers[new]])
        if len(self._keys) >= 2 * self.n:  # not at every batch, which would copy many rows
            self._remove_lowest()

    def watch(self, batches: Iterable[ScoredBatch]) -> Iterator[ScoredBatch]:
        """Yield scored batches, and add each of them by its scores."""
        for batch in batches:
            self.add(batch.first_row, batch.table, batch.predictions.scores)
            yield batch

    def _remove_lowest(self) -> None:
        """Sort the rows by descending key and keep the first `n`."""
        if not self.tables:
            return
        kept = np.argsort(-self._keys, kind="stable")[: self.n]
        try:
            joined = pa.concat_tables(self.tables, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(f"The type of a column changes within the table: {error}.") from error
        self.tables = [joined.take(pa.array(kept))]
        self._keys, self._numbers = self._keys[kept], self._numbers[kept]
        if len(kept) == self.n:
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
        return self.first(self.n)

    def first(self, n: int) -> SelectedRows:
        """Return the first `n` rows, the largest key first; fewer if there are fewer."""
        self._remove_lowest()
        table = self.tables[0].slice(0, n) if self.tables else pa.table({})
        return SelectedRows(table, self._numbers[:n].tolist(), self._n_read)


def find_rows(files: TableFiles, identifier: str | None, wanted: Sequence[str]) -> SelectedRows:
    """Return the rows with these names; raise if a name belongs to no row, or to several."""
    keys = [parse_row_name(text, identifier) for text in wanted]
    values = pa.array([key for key in dict.fromkeys(keys) if isinstance(key, str)], pa.string())
    found: dict[int | str, list[tuple[int, pa.Table]]] = {key: [] for key in keys}
    example, n_read = "", 0
    for first_row, table in scan(files.batches()):
        n_read = first_row + table.num_rows
        for key in found:
            if isinstance(key, int) and first_row <= key < n_read:
                found[key].append((key, table.slice(key - first_row, 1)))
        if len(values):
            column = _identifiers(table, identifier)
            example = example or next(filter(None, column.to_pylist()), "")
            for at in np.flatnonzero(
                pc.is_in(column, value_set=values).to_numpy(zero_copy_only=False)
            ).tolist():
                found[column[at].as_py()].append((first_row + at, table.slice(at, 1)))
        elif all(found.values()):
            break
    for key, rows in found.items():
        if not rows and isinstance(key, int):
            raise DataError(f"There is no row {key}; rows are numbered from 0.")
        if not rows:
            name, such_as = identifier or UNNAMED, f", such as {example}" * bool(example)
            raise DataError(f"No row has the {name} {key}. Give a value of {name}{such_as}.")
        if len(rows) > 1:
            raise DataError(
                f"{count(len(rows), 'row')} have the {identifier or UNNAMED} {key}: name one of "
                f"them by its number, such as 'row {rows[0][0]}' and 'row {rows[1][0]}'."
            )
    selected = [found[key][0] for key in keys]
    joined = pa.concat_tables([table for _, table in selected], promote_options="permissive")
    return SelectedRows(joined, [number for number, _ in selected], n_read)


def draw_sample(files: TableFiles, seed: int = 0, label_column: str | None = None) -> TableSample:
    """Read a table once and return its training rows.

    Tables of at most `max_training_rows` rows are returned as they are. Of others, that many rows
    are drawn, each with the same probability; those with a label come first. The sample depends
    on the table and the seed alone. About twice the sample is in memory at any time.
    """
    batches = files.batches()
    head = next(batches)
    drawn, first_row = TopRows(max_training_rows(head.num_columns)), 0
    for batch in chain([head], batches):
        drawn.add(first_row, batch, sample_keys(batch, first_row, seed, label_column))
        first_row += batch.num_rows
    if first_row <= drawn.n:
        is_drawn = np.zeros(first_row, dtype=np.bool_)
        return TableSample(files.join(drawn.tables), np.arange(first_row), first_row, is_drawn)
    return sample_of(drawn, first_row)


def max_training_rows(n_columns: int) -> int:
    """Return the largest number of training rows of a table.

    >>> max_training_rows(10), max_training_rows(400)
    (200000, 10000)
    """
    return min(MAX_ROWS, MAX_CELLS // max(n_columns, 1))


def sample_keys(
    table: pa.Table, first_row: int, seed: int, label_column: str | None = None
) -> Floats:
    """Return a key for each of some consecutive rows; the largest keys of a table are its sample.

    The key depends on the seed and the number of the row alone, so that a table may be read in
    parts of any size. It is below 1, or from 1 to 2 for a labelled row.
    """
    generator = np.random.PCG64(seed).advance(first_row)  # one step per random number
    keys: Floats = np.random.Generator(generator).random(table.num_rows)
    if label_column is not None:
        keys += _is_labelled(table, label_column)
    return keys


def sample_of(drawn: TopRows, n_rows: int) -> TableSample:
    """Return the drawn rows of a table of `n_rows` rows, in the order of the table."""
    selected = drawn.selected()
    numbers = np.array(selected.numbers, dtype=np.int64)
    order = np.argsort(numbers)
    is_drawn = np.full(len(numbers), len(numbers) < n_rows)
    return TableSample(selected.table.take(pa.array(order)), numbers[order], n_rows, is_drawn)


def _identifiers(table: pa.Table, identifier: str | None) -> pa.Array:
    """Return the identifiers of rows as text."""
    if identifier not in table.column_names:
        raise DataError(
            f"The table lacks the identifier column '{identifier}', needed to find a row."
        )
    return to_text(table.column(identifier)).combine_chunks()


def identifier_columns(detector: TableDetector) -> list[str]:
    """Return the names of the identifier columns."""
    return [column.name for column in detector.schema_ if column.role == Role.IDENTIFIER]


def _is_labelled(table: pa.Table, column: str) -> Mask:
    """Return which rows have a label, however it is spelled."""
    if column not in table.column_names:
        raise UnknownNameError("column", column, table.column_names)
    text = pc.utf8_lower(to_text(table.column(column)))
    text = pc.replace_substring_regex(text, r"^(-?\d+)\.0*$", r"\1")
    is_open = pc.is_in(text, value_set=pa.array([*UNLABELLED_TEXTS, None], pa.string()))
    return ~np.asarray(is_open.to_numpy(), dtype=np.bool_)
