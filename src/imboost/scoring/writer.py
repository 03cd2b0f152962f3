"""Write scores to a file, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa

from imboost.errors import DataError, SettingError
from imboost.persistence.atomic_write import atomic_write
from imboost.scoring.excel_writer import check_package
from imboost.scoring.streaming import ScoredBatch
from imboost.scoring.table_writers import WRITERS, WriteOptions, open_writer
from imboost.tables.cells import mask_missing
from imboost.tables.files import ending_of
from imboost.tables.standard_input import STANDARD_STREAM

OWN_COLUMNS = (
    ("row", pa.int64()),
    ("score", pa.float64()),
    ("probability", pa.float64()),
    ("is_outlier", pa.bool_()),
)
"""Columns written after the identifiers of a row."""

MODEL_KEY = "imboost.model"  # metadata of a Parquet file: the name of the model

GROUP_ROWS = 1 << 17  # rows written at a time: the size of a Parquet row group


class ScoreWriter:
    """Writes scored batches to a file, and counts its rows in `n_rows`.

    Parameters
    ----------
    path : Path
        The ending decides the format.
    identifiers : sequence of str, optional
        Columns that are copied from the table, if it has them. Default: all.
    options : WriteOptions, optional
    model : str, optional
        Name of the model, which Parquet files keep in their metadata.
    """

    def __init__(
        self,
        path: Path,
        identifiers: Sequence[str] | None,
        options: WriteOptions | None = None,
        model: str = "",
    ) -> None:
        self._path = path
        self._identifiers = identifiers
        self._options = options
        self._model = model
        self._schema: pa.Schema | None = None
        self._waiting: list[pa.Table] = []
        self.n_rows = 0
        self._open = ExitStack()

    def write(self, batch: ScoredBatch) -> None:
        """Write the predictions of a batch; the first one decides which columns are copied."""
        if self._schema is None:
            self._schema = score_schema(batch.table, self._identifiers, self._model)
            self._file = self._open.enter_context(
                open_writer(self._path, self._schema, self._options)
            )
        self._waiting.append(score_lines(batch, self._schema, self._identifiers))
        if sum(lines.num_rows for lines in self._waiting) >= GROUP_ROWS:
            self._write_waiting()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the remaining rows, unless there was an error, and close the file."""
        with self._open:
            if self._waiting and kind is None:
                self._write_waiting()

    def _write_waiting(self) -> None:
        lines = pa.concat_tables(self._waiting)
        self._file.write_table(lines)
        self.n_rows += lines.num_rows
        self._waiting = []


def score_schema(table: pa.Table, copied: Sequence[str] | None, model: str) -> pa.Schema:
    """Return the columns of a score file: those copied from the table (all if None), and ours.

    The name of the model is in the metadata.
    """
    wanted = table.column_names if copied is None else copied
    kept = [name for name in wanted if name in table.column_names]
    types = [(name, _cells(table, name, copied).type) for name in kept]
    own = ((free_name(name, kept), kind) for name, kind in OWN_COLUMNS)
    return pa.schema([*types, *own], metadata={MODEL_KEY: model})


def score_lines(batch: ScoredBatch, schema: pa.Schema, copied: Sequence[str] | None) -> pa.Table:
    """Return the lines of a score file about a batch."""
    found = batch.predictions
    numbers = np.arange(batch.first_row, batch.first_row + batch.table.num_rows)
    own = [numbers, found.scores, found.probabilities, found.is_outlier]
    kept = schema.names[: -len(OWN_COLUMNS)]
    columns = [_cells(batch.table, name, copied) for name in kept]
    try:
        return pa.table([*columns, *own], names=schema.names).cast(schema)
    except pa.ArrowException as error:
        raise DataError(f"The type of a column changes within the table: {error}.") from error


def _cells(table: pa.Table, name: str, copied: Sequence[str] | None) -> pa.ChunkedArray:
    """Return the cells of a column; as they are in the table if all columns are copied."""
    column = table.column(name)
    return column if copied is None else mask_missing(column)


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
        raise SettingError(f"{out} is a folder: name a file with --out.")
    if out.exists() and any(out.samefile(path) for path in data):
        raise SettingError(f"{out} is the table itself: name another file with --out.")


def free_name(name: str, taken: Sequence[str]) -> str:
    """Append underscores to a name until it is not taken."""
    return free_name(f"{name}_", taken) if name in taken else name
