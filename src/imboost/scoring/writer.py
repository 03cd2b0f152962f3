"""Write scores to a CSV or Parquet file, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from imboost.errors import DataError, SettingError
from imboost.persistence.atomic_write import atomic_write
from imboost.scoring.streaming import ScoredBatch
from imboost.tables.cells import mask_missing
from imboost.tables.files import CSV_ENDINGS, PARQUET_ENDINGS

OWN_COLUMNS = (
    ("row", pa.int64()),
    ("score", pa.float64()),
    ("probability", pa.float64()),
    ("is_outlier", pa.bool_()),
)
"""Columns written after the identifiers of a row."""

GROUP_ROWS = 1 << 17  # rows written at a time: the size of a Parquet row group


class ScoreWriter:
    """Writes scored batches to a CSV or Parquet file, and counts its rows in `n_rows`.

    The extension of `path` decides the format. The columns `identifiers` are copied from the
    table, if it has them.
    """

    def __init__(self, path: Path, identifiers: Sequence[str]) -> None:
        self._path = path
        self._identifiers = identifiers
        self._schema: pa.Schema | None = None
        self._waiting: list[pa.Table] = []
        self.n_rows = 0
        self._open = ExitStack()

    def write(self, batch: ScoredBatch) -> None:
        """Write the predictions of a batch; the first one decides which identifiers are copied."""
        if self._schema is None:
            self._schema = self._schema_of(batch.table)
            self._file: Any = self._open.enter_context(_writer(self._path, self._schema))
        self._waiting.append(self._lines(batch, self._schema))
        if sum(lines.num_rows for lines in self._waiting) >= GROUP_ROWS:
            self._write_waiting()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the remaining rows, unless there was an error, and close the file."""
        if self._waiting and kind is None:
            self._write_waiting()
        self._open.close()

    def _write_waiting(self) -> None:
        lines = pa.concat_tables(self._waiting)
        self._file.write_table(lines)
        self.n_rows += lines.num_rows
        self._waiting = []

    def _schema_of(self, table: pa.Table) -> pa.Schema:
        kept = [name for name in self._identifiers if name in table.column_names]
        types = [(name, mask_missing(table.column(name)).type) for name in kept]
        return pa.schema([*types, *((free_name(name, kept), kind) for name, kind in OWN_COLUMNS)])

    def _lines(self, batch: ScoredBatch, schema: pa.Schema) -> pa.Table:
        found = batch.predictions
        numbers = np.arange(batch.first_row, batch.first_row + batch.table.num_rows)
        own = [numbers, found.scores, found.probabilities, found.is_outlier]
        kept = schema.names[: -len(OWN_COLUMNS)]
        columns = [mask_missing(batch.table.column(name)) for name in kept]
        try:
            return pa.table([*columns, *own], names=schema.names).cast(schema)
        except pa.ArrowException as error:
            raise DataError(
                f"The type of an identifier column changes within the table: {error}."
            ) from error


def write_table(path: Path, table: pa.Table) -> None:
    """Write an Arrow table atomically; the extension decides the format."""
    with atomic_write(path) as draft, _writer(draft, table.schema) as writer:
        writer.write_table(table)


def check_score_path(out: Path, data: Sequence[Path]) -> None:
    """Raise unless scores can be written to `out` without overwriting the table."""
    if not out.name.lower().endswith(CSV_ENDINGS + PARQUET_ENDINGS):
        endings = ", ".join(CSV_ENDINGS + PARQUET_ENDINGS)
        raise SettingError(f"The score file must end with {endings}; got {out}.")
    if out.is_dir():
        raise SettingError(f"{out} is a folder: name a file with --out.")
    if out.exists() and any(out.samefile(path) for path in data):
        raise SettingError(f"{out} is the table itself: name another file with --out.")


@contextmanager
def _writer(path: Path, schema: pa.Schema) -> Iterator[Any]:
    name = path.name.lower()
    if name.endswith(PARQUET_ENDINGS):
        with pa.parquet.ParquetWriter(path, schema) as writer:
            yield writer
        return
    delimiter = "\t" if name.endswith((".tsv", ".tsv.gz")) else ","
    options = pa.csv.WriteOptions(delimiter=delimiter)
    compression = "gzip" if name.endswith(".gz") else None
    with (
        pa.output_stream(path, compression=compression) as stream,
        pa.csv.CSVWriter(stream, schema, write_options=options) as writer,
    ):
        yield writer


def free_name(name: str, taken: Sequence[str]) -> str:
    """Append underscores to a name until it is not taken."""
    return free_name(f"{name}_", taken) if name in taken else name
