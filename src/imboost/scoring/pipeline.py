"""Score a table of any size: scan, parse each batch once, score and write.

`scan` numbers the rows of a table, `score_batch` parses, encodes and scores a batch, and
`imboost.scoring.score_files.write_scores` writes it. Threads execute this on one machine, and Ray
(`imboost.scoring.ray_engine`) executes it for each part of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from imboost import persistence
from imboost.arrays import Floats, Mask
from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError, PersistenceError
from imboost.parallel import map_in_order, n_cores
from imboost.scoring.drift import Changes, count_changes, no_changes
from imboost.tables.files import TableFiles
from imboost.tables.schema import ParsedColumns

BATCH_ROWS = 8192  # rows scored at a time; bounds the memory of a detector

Batch = tuple[int, pa.Table]
"""Consecutive rows of a table, if any, with the number of the first one, from 0."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Scores, probabilities and decisions for some rows."""

    scores: Floats
    probabilities: Floats
    is_outlier: Mask

    @classmethod
    def of_scores(cls, detector: TableDetector, scores: Floats) -> Predictions:
        """Derive probabilities and decisions from scores."""
        return cls(scores, detector.decision_.probability(scores), scores > detector.threshold_)


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """Consecutive rows of a table, if any, and their predictions."""

    first_row: int
    table: pa.Table
    predictions: Predictions
    changes: Changes  # from the training table


@dataclass
class Summary:
    """What is known about scored rows; for `changes` see `imboost.scoring.drift.count_changes`."""

    n_rows: int = 0
    n_outliers: int = 0
    changes: Changes = field(default_factory=no_changes)

    def add(self, other: Summary) -> None:
        """Add the summary of other rows."""
        self.n_rows += other.n_rows
        self.n_outliers += other.n_outliers
        for kind, counts in other.changes.items():
            self.changes[kind].update(counts)

    def counted(self, batches: Iterable[ScoredBatch]) -> Iterator[ScoredBatch]:
        """Yield batches, and add each of them."""
        for batch in batches:
            is_outlier = batch.predictions.is_outlier
            self.add(Summary(len(is_outlier), int(is_outlier.sum()), batch.changes))
            yield batch


def score_table(detector: TableDetector, files: TableFiles) -> Iterator[ScoredBatch]:
    """Score a table on all cores, in the order of its rows; the first batch may be empty.

    Only a few batches are in memory at any time. Raises a DataError at the end if fewer or more
    rows were scored than Parquet files declare.
    """
    n_scored = 0
    for batch in score_batches(detector, files.batches(), n_threads=n_cores()):
        n_scored += len(batch.predictions.scores)
        yield batch
    check_row_counts(files.n_rows, n_scored, "scored")


def score_batches(
    detector: TableDetector, tables: Iterable[pa.Table], first_row: int = 0, n_threads: int = 1
) -> Iterator[ScoredBatch]:
    """Score consecutive tables, a batch of rows at a time, in order."""
    return map_in_order(partial(score_batch, detector), scan(tables, first_row), n_threads)


def scan(tables: Iterable[pa.Table], first_row: int = 0) -> Iterator[Batch]:
    """Yield consecutive tables as batches of at most `BATCH_ROWS` rows."""
    for table in tables:
        for offset in range(0, max(table.num_rows, 1), BATCH_ROWS):
            yield first_row + offset, table.slice(offset, BATCH_ROWS)
        first_row += table.num_rows


def score_batch(detector: TableDetector, batch: Batch) -> ScoredBatch:
    """Parse a batch once, count what differs from training, and score it."""
    schema, (first_row, table) = detector.schema_, batch
    schema.check_columns(table)
    cells = schema.cells(table)
    parsed = schema.parse_cells(cells)
    changes = count_changes(detector, table, cells, parsed)
    return ScoredBatch(first_row, table, predict(detector, parsed, table.num_rows), changes)


def predict(detector: TableDetector, parsed: ParsedColumns, n_rows: int) -> Predictions:
    """Score parsed rows and derive probabilities and decisions from the scores."""
    if n_rows == 0:
        return Predictions(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_))
    matrix = detector.encode_parsed(parsed)
    if not detector.detector_.allow_nan and np.isnan(matrix).any():
        name = type(detector.detector_).__name__
        raise DataError(f"{name} cannot score rows with missing numbers or dates.")
    return Predictions.of_scores(detector, detector.detector_.decision_function(matrix))


def predict_table(detector: TableDetector, table: pa.Table) -> Predictions:
    """Parse and score the rows of a table."""
    return predict(detector, detector.schema_.parse(table), table.num_rows)


def load_table_detector(folder: Path) -> TableDetector:
    """Load a saved TableDetector; raise if the folder holds another detector."""
    detector = persistence.load(folder)
    if not isinstance(detector, TableDetector):
        raise PersistenceError(
            f"{folder} holds a {type(detector).__name__}, which scores arrays; tables need a "
            "TableDetector, as 'imboost fit' saves it."
        )
    return detector


def check_row_counts(n_read: int | None, n_done: int, what: str) -> None:
    """Raise unless as many rows were processed as were read; None is an unknown number."""
    if n_read is not None and n_read != n_done:
        raise DataError(
            f"Read {n_read:,} rows but {what} {n_done:,}. Rows were lost or repeated; check "
            "whether the file changed while it was read."
        )
