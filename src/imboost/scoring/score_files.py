"""Files of scores: their columns, and how they are written and read again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from imboost.arrays import Floats
from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError, SettingError
from imboost.parallel import map_in_order, n_cores
from imboost.present import wording
from imboost.scoring.drift import Drift
from imboost.scoring.pipeline import (
    Batch,
    Predictions,
    ScoredBatch,
    check_row_counts,
    predict_table,
    scan,
)
from imboost.scoring.row_selection import SelectedRows
from imboost.scoring.table_writers import (
    WRITERS,
    Write,
    WriteOptions,
    check_excel_package,
    open_writer,
)
from imboost.stats.score_errors import TOLERANCE, relative_errors
from imboost.tables.cells import mask_missing, to_text
from imboost.tables.files import TableFiles, ending_of
from imboost.tables.read_options import STANDARD_STREAM

SCORE_COLUMNS = {
    "row": pa.int64(),
    "score": pa.float64(),
    "rank": pa.int64(),
    "probability": pa.float64(),
    "is_outlier": pa.bool_(),
    "answer": pa.string(),
}
"""Columns that say what a model and people know about a row, with their Arrow types. Files of
scores, downloads, replayed logs and replies of the service have some of them, in this order."""

PREDICTED = ("row", "score", "probability", "is_outlier")
"""Those that follow from a row alone, without the other rows or a session. Files of scores have
them after the identifiers of a row."""

MODEL_KEY = "imboost.model"  # metadata of a Parquet file: the name of the model
GROUP_ROWS = 1 << 17  # rows written at a time: the size of a Parquet row group
MAX_EXPLAINED = 10_000  # rows with reasons; the table of these rows is held in memory
ROWS_AT_ONCE = 100  # rows explained before the progress bar moves

Reasons = Mapping[int, tuple[list[str], str]]
"""Why rows have their scores, by the number of the row: columns, and one sentence."""


def schema_of(*names: str) -> pa.Schema:
    """Return the names and types of some of `SCORE_COLUMNS`."""
    return pa.schema([(name, SCORE_COLUMNS[name]) for name in names])


def write_scores(
    detector: TableDetector,
    batches: Iterable[ScoredBatch],
    copied: Sequence[str] | None,
    open_file: Callable[[pa.Schema], AbstractContextManager[Write]],
) -> None:
    """Write scored batches to a file of their schema; raise unless every row was written.

    The columns `copied` (all if None) come from the table, if the first batch has them.
    """
    left = iter(batches)
    first = next(left)
    schema = score_schema(first.table, copied, detector)
    n_read = n_written = 0
    waiting = schema.empty_table()
    with open_file(schema) as write:
        for batch in chain([first], left):
            n_read += batch.table.num_rows
            waiting = pa.concat_tables([waiting, score_lines(batch, schema, copied, detector)])
            if waiting.num_rows >= GROUP_ROWS:
                write(waiting)
                n_written += waiting.num_rows
                waiting = schema.empty_table()
        if waiting.num_rows:
            write(waiting)
            n_written += waiting.num_rows
    check_row_counts(n_read, n_written, "wrote")


def score_schema(
    table: pa.Table, copied: Sequence[str] | None, detector: TableDetector
) -> pa.Schema:
    """Return the columns of a score file: those copied from the table (all if None), and ours.

    The name of the model is in the metadata.
    """
    wanted = table.column_names if copied is None else copied
    kept = [name for name in wanted if name in table.column_names]
    types = [(name, _cells(table, name, copied, detector).type) for name in kept]
    own = ((free_name(name, kept), SCORE_COLUMNS[name]) for name in PREDICTED)
    return pa.schema([*types, *own], metadata={MODEL_KEY: detector.model_name})


def score_lines(
    batch: ScoredBatch, schema: pa.Schema, copied: Sequence[str] | None, detector: TableDetector
) -> pa.Table:
    """Return the lines of a score file about a batch."""
    found = batch.predictions
    numbers = np.arange(batch.first_row, batch.first_row + batch.table.num_rows)
    own = [numbers, found.scores, found.probabilities, found.is_outlier]
    kept = schema.names[: -len(PREDICTED)]
    columns = [_cells(batch.table, name, copied, detector) for name in kept]
    try:
        return pa.table([*columns, *own], names=schema.names).cast(schema)
    except pa.ArrowException as error:
        raise DataError(f"The type of a column changes within the table: {error}.") from error


def _cells(
    table: pa.Table, name: str, copied: Sequence[str] | None, detector: TableDetector
) -> pa.ChunkedArray:
    """Return the cells of a column; as they are in the table if all columns are copied."""
    column = table.column(name)
    return column if copied is None else mask_missing(column, detector.schema_.missing_values)


def find_reasons(
    detector: TableDetector, selected: SelectedRows, advance: Callable[[int], None]
) -> Reasons:
    """Return the reasons of some rows; `advance` is told how many more are done."""
    found: dict[int, tuple[list[str], str]] = {}
    for start in range(0, len(selected.numbers), ROWS_AT_ONCE):
        numbers = selected.numbers[start : start + ROWS_AT_ONCE]
        explanations = detector.explain(selected.table.slice(start, ROWS_AT_ONCE))
        for number, explanation in zip(numbers, explanations, strict=True):
            main = explanation.main_reasons
            found[number] = [reason.column for reason in main], wording.reasons(main)
        advance(len(numbers))
    return found


def write_reasons(scores: Path, out: Path, reasons: Reasons, options: WriteOptions) -> None:
    """Copy a Parquet file of scores to a file with two more columns."""
    with pq.ParquetFile(scores) as file:
        names = file.schema_arrow.names
        columns, text = (free_name(name, names) for name in ("reason_columns", "reason"))
        kinds = [pa.list_(pa.string()), pa.string()]
        schema = pa.schema([*file.schema_arrow, (columns, kinds[0]), (text, kinds[1])])
        first_row = 0
        with open_writer(out, schema, replace(options, marking=columns)) as write:
            for batch in file.iter_batches():
                rows = range(first_row, first_row + batch.num_rows)
                found = [reasons.get(row, (None, None)) for row in rows]
                added = (pa.array([one[at] for one in found], kinds[at]) for at in (0, 1))
                write(pa.table([*batch.columns, *added], schema=schema))
                first_row += batch.num_rows


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


def check_score_path(out: Path, data: Sequence[Path] = ()) -> None:
    """Raise unless scores can be written to `out` without overwriting the table."""
    if out == STANDARD_STREAM:
        return
    ending = ending_of(out)
    if ending not in WRITERS:
        endings = ", ".join(WRITERS)
        raise SettingError(f"The score file must end with {endings}; got {out}.")
    if ending == ".xlsx":
        check_excel_package()
    if out.is_dir():
        raise SettingError(f"{out} is a folder: name a file for the scores.")
    if out.exists() and any(out.samefile(path) for path in data):
        raise SettingError(f"{out} is the table itself: name another file for the scores.")


def free_name(name: str, taken: Sequence[str]) -> str:
    """Append underscores to a name until it is not taken."""
    return free_name(f"{name}_", taken) if name in taken else name


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
