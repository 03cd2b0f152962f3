"""Draw the training rows of a table that may be larger than memory, in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.errors import UnknownNameError
from imboost.labels import TEXT_LABELS, UNLABELLED, Labels
from imboost.scoring.row_selection import TopRows
from imboost.tables.cells import to_text
from imboost.tables.files import TableFiles

MAX_ROWS = 200_000  # training rows; a model of more rows of a table is hardly better
MAX_CELLS = 4_000_000  # training cells: wide tables have fewer training rows, for bounded memory

UNLABELLED_TEXTS = [text for text, label in TEXT_LABELS.items() if label == UNLABELLED]


@dataclass(frozen=True, eq=False)
class TrainingSample:
    """Training rows of a table: all of them, or a uniform sample.

    Parameters
    ----------
    table : Arrow table
        The training rows, in the order of the table.
    rows : array of shape (n_sampled,)
        Their row numbers in the complete table, from 0.
    n_rows : int
        Number of rows of the complete table.
    """

    table: pa.Table
    rows: NDArray[np.int64]
    n_rows: int

    @property
    def is_complete(self) -> bool:
        """Whether all rows are training rows."""
        return len(self.rows) == self.n_rows

    def weights(self, labels: Labels) -> NDArray[np.float64]:
        """Return how many rows of the complete table each training row stands for.

        Labelled rows are all in the sample and stand for themselves. If they fill the sample,
        all rows count the same.
        """
        is_drawn = labels == UNLABELLED
        if self.is_complete or not is_drawn.any():
            return np.full(len(labels), self.n_rows / len(labels))
        n_labelled = int((~is_drawn).sum())
        drawn_weight = (self.n_rows - n_labelled) / int(is_drawn.sum())
        return np.where(is_drawn, drawn_weight, 1.0)


def draw_sample(
    files: TableFiles, seed: int = 0, label_column: str | None = None
) -> TrainingSample:
    """Read a table once and return its training rows.

    Tables of at most `max_training_rows` rows are returned as they are. Of others, that many rows
    are drawn, each with the same probability; labelled rows come first. The sample depends on the
    table and the seed alone. About twice the sample is in memory at any time.

    Parameters
    ----------
    files : TableFiles
    seed : int
    label_column : str, optional
        Rows with a label in this column are drawn before others.
    """
    batches = files.batches()
    head: list[pa.Table] = []
    n_head, n = 0, 0
    for batch in batches:
        head.append(batch)
        n, n_head = max_training_rows(batch.num_columns), n_head + batch.num_rows
        if n_head > n:
            break
    else:
        return TrainingSample(files.join(head), np.arange(n_head), n_head)
    drawn = TopRows(n)
    first_row = 0
    for batch in chain(_pop_all(head), batches):
        drawn.add(first_row, batch, sample_keys(batch, first_row, seed, label_column))
        first_row += batch.num_rows
    return sample_of(drawn, first_row)


def max_training_rows(n_columns: int) -> int:
    """Return the largest number of training rows of a table.

    >>> max_training_rows(10), max_training_rows(400)
    (200000, 10000)
    """
    return min(MAX_ROWS, MAX_CELLS // max(n_columns, 1))


def sample_keys(
    table: pa.Table, first_row: int, seed: int, label_column: str | None = None
) -> NDArray[np.float64]:
    """Return a random key for each of some consecutive rows; the largest keys are the sample.

    The key of a row depends on the seed and its number alone, so that a table may be read in
    parts of any size. It is below 1, or from 1 to 2 for a labelled row.
    """
    generator = np.random.PCG64(seed).advance(first_row)  # one step per random number
    keys: NDArray[np.float64] = np.random.Generator(generator).random(table.num_rows)
    if label_column is not None:
        keys += _is_labelled(table, label_column)
    return keys


def sample_of(drawn: TopRows, n_rows: int) -> TrainingSample:
    """Return the drawn rows of a table of `n_rows` rows, in the order of the table."""
    selected = drawn.selected()
    numbers = np.array(selected.numbers, dtype=np.int64)
    order = np.argsort(numbers)
    return TrainingSample(selected.table.take(pa.array(order)), numbers[order], n_rows)


def _is_labelled(table: pa.Table, column: str) -> NDArray[np.bool_]:
    """Return which rows have a label, however it is spelled."""
    if column not in table.column_names:
        raise UnknownNameError("column", column, table.column_names)
    text = pc.utf8_lower(to_text(table.column(column)))
    text = pc.replace_substring_regex(text, r"^(-?\d+)\.0*$", r"\1")
    is_open = pc.is_in(text, value_set=pa.array([*UNLABELLED_TEXTS, None], pa.string()))
    return ~np.asarray(is_open.to_numpy(), dtype=np.bool_)


def _pop_all(tables: list[pa.Table]) -> Iterator[pa.Table]:
    """Yield tables in order without keeping them."""
    while tables:
        yield tables.pop(0)
