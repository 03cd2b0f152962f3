"""Tables larger than memory, scored piece by piece on all cores, in the order of their rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

import pyarrow as pa

from imboost.detectors.table_detector import TableDetector
from imboost.scoring.predictions import Verdicts, judge
from imboost.scoring.threads import n_cores, scoring_threads
from imboost.tables.files import TableFiles

PIECE_ROWS = 4096
"""Rows that are scored at a time: what a detector keeps of them fits a small machine."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class ScoredPiece:
    """Some rows that follow each other, and what is said of them.

    Parameters
    ----------
    first : int
        Number of the first row in the whole table.
    table : Arrow table
        The rows; there may be none.
    verdicts : Verdicts
    reading_seconds : float
        Spent on reading them.
    """

    first: int
    table: pa.Table
    verdicts: Verdicts
    reading_seconds: float


def score_pieces(
    detector: TableDetector,
    files: TableFiles,
    *,
    n_rows: int = PIECE_ROWS,
    n_threads: int | None = None,
) -> Iterator[ScoredPiece]:
    """Score a table of any size, at most `n_rows` rows at a time; the first piece may hold none.

    Only a few pieces are in memory at any time.
    """

    def score(piece: tuple[int, pa.Table, float]) -> ScoredPiece:
        first, table, seconds = piece
        return ScoredPiece(first, table, judge(detector, table), seconds)

    return in_order(score, pieces(files, n_rows), n_threads or n_cores())


def pieces(files: TableFiles, n_rows: int = PIECE_ROWS) -> Iterator[tuple[int, pa.Table, float]]:
    """Yield number of the first row, rows and seconds of reading for every piece of a table."""
    first, start = 0, perf_counter()
    for batch in files.batches():
        for place in range(0, max(batch.num_rows, 1), n_rows):
            piece = batch.slice(place, n_rows)
            yield first, piece, perf_counter() - start
            first, start = first + piece.num_rows, perf_counter()


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """Yield what `work` makes of items, in their order; a few are worked on at the same time."""
    waiting: deque[Future[Result]] = deque()
    with scoring_threads(n_threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > n_threads:  # one more, so that no thread has to wait
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
