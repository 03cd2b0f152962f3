"""Files of scores, read again in place of scoring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats
from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError
from imboost.parallel import map_in_order, n_cores
from imboost.scoring.drift import Drift
from imboost.scoring.pipeline import Batch, Predictions, ScoredBatch, predict_table, scan
from imboost.scoring.row_selection import SelectedRows
from imboost.stats.score_errors import TOLERANCE, relative_errors
from imboost.tables.cells import to_text
from imboost.tables.files import TableFiles


def add_scores(detector: TableDetector, files: TableFiles, path: Path) -> Iterator[ScoredBatch]:
    """Read a table with its scores, batch by batch, as `score_table` yields it."""
    scores = read_scores(path)

    def look_up(batch: Batch) -> ScoredBatch:
        first_row, table = batch
        found = Predictions.of_scores(detector, scores[first_row : first_row + table.num_rows])
        return ScoredBatch(first_row, table, found, Drift.of_table(detector, table).changes)

    n_read = 0
    for scored in map_in_order(look_up, scan(files.batches()), n_cores()):
        n_read = scored.first_row + scored.table.num_rows
        if n_read > len(scores):
            break
        yield scored
    if n_read != len(scores):
        raise DataError(
            f"{path} holds the scores of {len(scores):,} rows, which is not the number of rows of "
            "the table: score the table again."
        )


def read_scores(path: Path) -> Floats:
    """Return the scores in a file that `imboost score` wrote, in the order of the rows."""
    table = TableFiles.find(path).read()
    rows, scores = (_numbers(table, name, path) for name in ("row", "score"))
    order = np.argsort(rows, kind="stable")
    if not np.array_equal(rows[order], np.arange(len(rows))):
        raise DataError(f"{path} does not hold every row of a table once: score the table again.")
    return scores[order]


def check_scores(detector: TableDetector, top: SelectedRows, scores: Floats) -> None:
    """Raise if the scores of a few rows in a file are not those that the detector gives them."""
    found = predict_table(detector, top.table).scores
    if (relative_errors(scores, found) > TOLERANCE).any():
        raise DataError(
            "The scores in the file are those of another model or table: score the table again."
        )


def _numbers(table: pa.Table, name: str, path: Path) -> Floats:
    """Return a column of the file; the writer appends underscores if the table has the name."""
    names = [one for one in table.column_names if re.fullmatch(f"{name}_*", one)]
    if not names:
        raise DataError(f"{path} has no column '{name}': it should be written by 'imboost score'.")
    try:
        text = to_text(table.column(max(names, key=len)))
        return np.asarray(pc.cast(text, pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowInvalid:
        raise DataError(f"{path}, column '{name}' must hold numbers.") from None
