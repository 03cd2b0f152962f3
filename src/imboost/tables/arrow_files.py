"""Parquet and Arrow IPC files (Feather)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from imboost.errors import DataError
from imboost.tables.read_options import ReadOptions

IPC_FILE = b"ARROW1"  # first bytes of a file; a stream has others


def open_parquet(path: Path, _: ReadOptions, n_rows: int) -> pa.RecordBatchReader:
    """Open a Parquet file."""
    file = pq.ParquetFile(path, pre_buffer=False)

    def batches() -> Iterator[pa.RecordBatch]:
        n_read = 0
        with file:
            for batch in file.iter_batches(n_rows):
                n_read += batch.num_rows
                yield batch
        if n_read != file.metadata.num_rows:
            raise DataError(
                f"{path} declares {file.metadata.num_rows:,} rows but holds {n_read:,}: it is "
                "damaged."
            )

    return pa.RecordBatchReader.from_batches(file.schema_arrow, batches())


def parquet_rows(path: Path) -> int:
    """Return the number of rows that a Parquet file declares."""
    return int(pq.read_metadata(path).num_rows)


def open_ipc(path: Path, _: ReadOptions, __: int) -> pa.RecordBatchReader:
    """Open an Arrow IPC file or stream; its batches are those of the file."""
    source = pa.OSFile(str(path))
    is_file = source.read(len(IPC_FILE)) == IPC_FILE
    source.seek(0)
    if not is_file:
        return pa.ipc.open_stream(source)
    file = pa.ipc.open_file(source)
    batches = map(file.get_batch, range(file.num_record_batches))
    return pa.RecordBatchReader.from_batches(file.schema, batches)
