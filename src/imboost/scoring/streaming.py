"""Score tables larger than memory: batch by batch, on all cores, in row order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

import pyarrow as pa

from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError
from imboost.parallel import n_cores, scoring_threads
from imboost.scoring.predictions import Predictions, predict_table
from imboost.tables.files import TableFiles

BATCH_ROWS = 8192  # rows scored at a time; bounds the memory of a detector

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """Consecutive rows of a table, if any, and their predictions."""

    first_row: int  # number of the first row in the table, from 0
    table: pa.Table
    predictions: Predictions
    reading_seconds: float


def score_batches(detector: TableDetector, files: TableFiles) -> Iterator[ScoredBatch]:
    """Score a table of any size, a batch of rows at a time; the first batch may be empty.

    Only a few batches are in memory at any time. Raises a DataError at the end if fewer or more
    rows were scored than Parquet files declare.
    """

    def score(batch: tuple[int, pa.Table, float]) -> ScoredBatch:
        first_row, table, seconds = batch
        return ScoredBatch(first_row, table, predict_table(detector, table), seconds)

    n_scored = 0
    for batch in map_in_order(score, read_batches(files), n_cores()):
        n_scored += len(batch.predictions.scores)
        yield batch
    check_row_counts(files.n_rows, n_scored, "scored")


def read_batches(files: TableFiles) -> Iterator[tuple[int, pa.Table, float]]:
    """Yield the number of the first row, the rows and the seconds of reading of each batch."""
    first_row, start = 0, perf_counter()
    for table in files.batches():
        for offset in range(0, max(table.num_rows, 1), BATCH_ROWS):
            batch = table.slice(offset, BATCH_ROWS)
            yield first_row, batch, perf_counter() - start
            first_row, start = first_row + batch.num_rows, perf_counter()


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """Yield the results of a function in the order of its items, a few computed at a time."""
    waiting: deque[Future[Result]] = deque()
    with scoring_threads(n_threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > n_threads:  # one more, so that no thread has to wait
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def check_row_counts(n_read: int | None, n_done: int, what: str) -> None:
    """Raise unless as many rows were processed as were read; None is an unknown number."""
    if n_read is not None and n_read != n_done:
        raise DataError(
            f"Read {n_read:,} rows but {what} {n_done:,}. Rows were lost or repeated; check "
            "whether the file changed while it was read."
        )
