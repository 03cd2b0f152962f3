"""Parquet and Arrow IPC files (Feather), and the file systems on which Parquet is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from imboost.errors import DataError, first_line
from imboost.tables.read_options import ReadOptions

IPC_FILE = b"ARROW1"  # first bytes of a file; a stream has others
URL = re.compile(r"^([a-z][a-z0-9+.-]+):/+(?=[^/])", re.IGNORECASE)


def to_location(path: str | Path) -> str:
    """Return a path or URL as text; `Path` removes a slash of URLs.

    >>> to_location(Path("s3://bucket/orders"))
    's3://bucket/orders'
    """
    text = str(path)
    found = URL.match(text)
    if found is None:
        return str(Path(text).resolve())
    slashes = ":///" if found[1].lower() == "file" else "://"
    return f"{found[1]}{slashes}{text[found.end() :]}"


def file_system(path: str | Path) -> tuple[pyarrow.fs.FileSystem, str]:
    """Return the file system of a path or URL, and the path there."""
    if not URL.match(str(path)):
        return pyarrow.fs.LocalFileSystem(), str(path)
    try:
        system, there = pyarrow.fs.FileSystem.from_uri(to_location(path))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{to_location(path)} cannot be reached: {first_line(error)}.") from error
    return system, there.rstrip("/")


def open_parquet(
    path: Path | str,
    _: ReadOptions,
    n_rows: int,
    groups: tuple[int, int] | None = None,
    n_expected: int | None = None,
) -> pa.RecordBatchReader:
    """Open a Parquet file, or the row groups from the first of two numbers up to the second.

    Raises a DataError at the end unless they hold `n_expected` rows, by default those that the
    file declares.
    """
    system, there = file_system(path)
    source = system.open_input_file(there)
    file = pq.ParquetFile(source, pre_buffer=False)
    expected = file.metadata.num_rows if n_expected is None else n_expected

    def batches() -> Iterator[pa.RecordBatch]:
        n_read = 0
        with source, file:
            for batch in file.iter_batches(n_rows, row_groups=groups and range(*groups)):
                n_read += batch.num_rows
                yield batch
        if n_read != expected:
            raise DataError(
                f"{path} should have {expected:,} rows but holds {n_read:,}: it was changed or is "
                "damaged."
            )

    return pa.RecordBatchReader.from_batches(file.schema_arrow, batches())


def parquet_metadata(path: Path | str) -> pq.FileMetaData:
    """Return what the footer of a Parquet file says."""
    system, there = file_system(path)
    with system.open_input_file(there) as file:
        return pq.read_metadata(file)


def parquet_rows(path: Path) -> int:
    """Return the number of rows that a Parquet file declares."""
    return int(parquet_metadata(path).num_rows)


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
