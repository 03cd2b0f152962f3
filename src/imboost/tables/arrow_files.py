"""Parquet and Arrow IPC files (Feather), batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from imboost.errors import DataError
from imboost.tables.column_names import check_unique
from imboost.tables.read_options import ReadOptions

IPC_FILE = b"ARROW1"  # first bytes of a file; a stream has others


def parquet_batches(path: Path, _: ReadOptions, n_rows: int) -> Iterator[pa.Table]:
    """Read a Parquet file; the first batch has no rows."""
    with pq.ParquetFile(path, pre_buffer=False) as file:
        check_unique(file.schema_arrow.names, str(path))
        yield file.schema_arrow.empty_table()
        n_read = 0
        for batch in file.iter_batches(n_rows):
            n_read += batch.num_rows
            yield pa.Table.from_batches([batch])
        if n_read != file.metadata.num_rows:
            raise DataError(
                f"{path} declares {file.metadata.num_rows:,} rows but holds {n_read:,}: it is "
                "damaged."
            )


def parquet_rows(path: Path) -> int:
    """Return the number of rows that a Parquet file declares."""
    return int(pq.read_metadata(path).num_rows)


def ipc_batches(path: Path, _: ReadOptions, n_rows: int) -> Iterator[pa.Table]:
    """Read an Arrow IPC file or stream; the first batch has no rows."""
    with path.open("rb") as file:
        is_file = file.read(len(IPC_FILE)) == IPC_FILE
    with (
        pa.OSFile(str(path)) as source,
        pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source) as reader,
    ):
        check_unique(reader.schema.names, str(path))
        yield reader.schema.empty_table()
        parts = range(reader.num_record_batches) if is_file else None
        batches = reader if parts is None else map(reader.get_batch, parts)
        for batch in batches:
            batch.validate(full=True)
            for start in range(0, batch.num_rows, n_rows):
                yield pa.Table.from_batches([batch.slice(start, n_rows)])
