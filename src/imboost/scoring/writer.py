"""Write scores, batch by batch, and other tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa

from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError, SettingError
from imboost.persistence.atomic_write import atomic_write
from imboost.scoring.excel_writer import check_package
from imboost.scoring.pipeline import ScoredBatch, check_row_counts
from imboost.scoring.score_columns import PREDICTED, SCORE_COLUMNS
from imboost.scoring.table_writers import WRITERS, TableWriter, WriteOptions, open_writer
from imboost.tables.cells import mask_missing
from imboost.tables.files import ending_of
from imboost.tables.read_options import STANDARD_STREAM

OWN_COLUMNS = tuple((name, SCORE_COLUMNS[name]) for name in PREDICTED)
"""Columns written after the identifiers of a row."""

MODEL_KEY = "imboost.model"  # metadata of a Parquet file: the name of the model

GROUP_ROWS = 1 << 17  # rows written at a time: the size of a Parquet row group


def write_scores(
    detector: TableDetector,
    batches: Iterable[ScoredBatch],
    copied: Sequence[str] | None,
    open_file: Callable[[pa.Schema], AbstractContextManager[TableWriter]],
) -> int:
    """Write scored batches and return the number of rows; raise unless every row was written.

    Parameters
    ----------
    detector : TableDetector
    batches : iterable of ScoredBatch
        The first one decides which columns are copied.
    copied : sequence of str or None
        Columns that are copied from the table, if it has them; None for all.
    open_file : callable
        Opens the file for tables of a schema.
    """
    n_read = n_written = 0
    waiting: list[pa.Table] = []
    schema: pa.Schema | None = None
    with ExitStack() as stack:
        for batch in batches:
            if schema is None:
                schema = score_schema(batch.table, copied, detector)
                file = stack.enter_context(open_file(schema))
            waiting.append(score_lines(batch, schema, copied, detector))
            n_read += batch.table.num_rows
            if sum(lines.num_rows for lines in waiting) >= GROUP_ROWS:
                n_written += _write_all(file, waiting)
        if waiting:
            n_written += _write_all(file, waiting)
    check_row_counts(n_read, n_written, "wrote")
    return n_written


def _write_all(file: TableWriter, waiting: list[pa.Table]) -> int:
    """Write tables at once and forget them; return their number of rows."""
    lines = pa.concat_tables(waiting)
    waiting.clear()
    file.write_table(lines)
    return int(lines.num_rows)


def score_schema(
    table: pa.Table, copied: Sequence[str] | None, detector: TableDetector
) -> pa.Schema:
    """Return the columns of a score file: those copied from the table (all if None), and ours.

    The name of the model is in the metadata.
    """
    wanted = table.column_names if copied is None else copied
    kept = [name for name in wanted if name in table.column_names]
    types = [(name, _cells(table, name, copied, detector).type) for name in kept]
    own = ((free_name(name, kept), kind) for name, kind in OWN_COLUMNS)
    return pa.schema([*types, *own], metadata={MODEL_KEY: detector.model_name})


def score_lines(
    batch: ScoredBatch, schema: pa.Schema, copied: Sequence[str] | None, detector: TableDetector
) -> pa.Table:
    """Return the lines of a score file about a batch."""
    found = batch.predictions
    numbers = np.arange(batch.first_row, batch.first_row + batch.table.num_rows)
    own = [numbers, found.scores, found.probabilities, found.is_outlier]
    kept = schema.names[: -len(OWN_COLUMNS)]
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


def write_table(path: Path, table: pa.Table, options: WriteOptions | None = None) -> None:
    """Write an Arrow table atomically; the extension decides the format."""
    with atomic_write(path) as draft, open_writer(draft, table.schema, options) as writer:
        writer.write_table(table)


def check_score_path(out: Path, data: Sequence[Path] = ()) -> None:
    """Raise unless scores can be written to `out` without overwriting the table."""
    if out == STANDARD_STREAM:
        return
    ending = ending_of(out)
    if ending not in WRITERS:
        endings = ", ".join(WRITERS)
        raise SettingError(f"The score file must end with {endings}; got {out}.")
    if ending == ".xlsx":
        check_package()
    if out.is_dir():
        raise SettingError(f"{out} is a folder: name a file for the scores.")
    if out.exists() and any(out.samefile(path) for path in data):
        raise SettingError(f"{out} is the table itself: name another file for the scores.")


def free_name(name: str, taken: Sequence[str]) -> str:
    """Append underscores to a name until it is not taken."""
    return free_name(f"{name}_", taken) if name in taken else name
