"""Draw the training rows of a table that may be larger than memory, in one pass."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats, Mask
from imboost.errors import UnknownNameError
from imboost.labels import TEXT_LABELS, UNLABELLED
from imboost.scoring.row_selection import TopRows
from imboost.scoring.table_sample import TableSample
from imboost.tables.cells import to_text
from imboost.tables.files import TableFiles

MAX_ROWS = 200_000  # training rows; a model of more rows of a table is hardly better
MAX_CELLS = 4_000_000  # training cells: wide tables have fewer training rows, for bounded memory

UNLABELLED_TEXTS = [text for text, label in TEXT_LABELS.items() if label == UNLABELLED]


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


def _is_labelled(table: pa.Table, column: str) -> Mask:
    """Return which rows have a label, however it is spelled."""
    if column not in table.column_names:
        raise UnknownNameError("column", column, table.column_names)
    text = pc.utf8_lower(to_text(table.column(column)))
    text = pc.replace_substring_regex(text, r"^(-?\d+)\.0*$", r"\1")
    is_open = pc.is_in(text, value_set=pa.array([*UNLABELLED_TEXTS, None], pa.string()))
    return ~np.asarray(is_open.to_numpy(), dtype=np.bool_)
