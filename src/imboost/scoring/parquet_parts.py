"""A Parquet table in parts of whole row groups, on any file system that pyarrow knows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from imboost.errors import DataError
from imboost.tables.cells import check_cells
from imboost.tables.names import check_columns, check_unique

PART_ROWS = 1 << 18  # rows of a part: row groups are joined up to this number
READ_ROWS = 1 << 16  # rows read at a time, as in `TableFiles.batches`

URL = re.compile(r"^([a-z][a-z0-9+.-]+):/+(?=[^/])", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """Consecutive row groups of a file.

    Parameters
    ----------
    file : int
        Number of the file in the table.
    path : str
        Path of the file in its file system.
    groups : tuple of int
        First row group, and the one after the last.
    first_row, n_rows : int
        Its rows in the table.
    """

    file: int
    path: str
    groups: tuple[int, int]
    first_row: int
    n_rows: int

    @property
    def name(self) -> str:
        """Name of the file of its scores; names are sorted as the rows are.

        >>> Part(0, "a.parquet", (2, 4), 600, 300).name
        'part-00000-000002-000004.parquet'
        """
        return f"part-{self.file:05d}-{self.groups[0]:06d}-{self.groups[1]:06d}.parquet"


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file, or all files of a folder, as parts.

    Parameters
    ----------
    location : str
        Path or URL of the file or folder.
    columns : tuple of str
        Names of the columns, in the order of the first file.
    parts : tuple of Part
        All rows, in order.
    fingerprint : str
        Hash of names, sizes, times of change and row groups of the files.
    """

    location: str
    columns: tuple[str, ...]
    parts: tuple[Part, ...]
    fingerprint: str

    @property
    def n_rows(self) -> int:
        """Number of rows that the files declare."""
        return sum(part.n_rows for part in self.parts)

    @classmethod
    def find(cls, location: str | Path) -> ParquetTable:
        """Find a table and read the footers of its files; raise if it has no rows.

        Parameters
        ----------
        location : str or Path
            A path, or a URL such as s3://bucket/folder.
        """
        location = to_location(location)
        system, root = file_system(location)
        columns: tuple[str, ...] = ()
        parts: list[Part] = []
        seen: list[Any] = []
        for number, info in enumerate(_find_files(system, root, location)):
            with _open(system, info.path) as file:
                names, metadata = file.schema_arrow.names, file.metadata
                check_unique(names, info.path)
                columns = columns or tuple(names)
                check_columns(names, list(columns), info.path)
                sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            first_row = parts[-1].first_row + parts[-1].n_rows if parts else 0
            parts.extend(_split(number, info.path, sizes, first_row))
            seen.append([info.base_name, info.size, info.mtime_ns, sizes])
        if not parts:
            raise DataError(f"{location} has no rows.")
        fingerprint = sha256(json.dumps([columns, seen]).encode()).hexdigest()
        return cls(location, columns, tuple(parts), fingerprint)

    def read(self, part: Part) -> Iterator[pa.Table]:
        """Read the rows of a part, some at a time; raise if it does not hold all of them."""
        n_read = 0
        with _open(file_system(self.location)[0], part.path) as file:
            for batch in file.iter_batches(READ_ROWS, row_groups=range(*part.groups)):
                n_read += batch.num_rows
                table = pa.Table.from_batches([batch]).select(self.columns)
                yield check_cells(table, part.path)
        if n_read != part.n_rows:
            raise DataError(
                f"{part.path} should have {part.n_rows:,} rows in its row groups "
                f"{part.groups[0]} to {part.groups[1] - 1} but holds {n_read:,}: it was changed "
                "or is damaged."
            )


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


def file_system(location: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """Return the file system of a location, and its path there."""
    try:
        if URL.match(location):
            system, path = pyarrow.fs.FileSystem.from_uri(location)
            return system, path
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{location} cannot be reached: {_first_line(error)}") from error
    return pyarrow.fs.LocalFileSystem(), location


def _find_files(
    system: pyarrow.fs.FileSystem, root: str, location: str
) -> list[pyarrow.fs.FileInfo]:
    """Return a file, or the Parquet files of a folder, sorted by name."""
    try:
        [info] = system.get_file_info([root])
        if info.type == pyarrow.fs.FileType.File:
            return [info]
        selector = pyarrow.fs.FileSelector(root, allow_not_found=True)
        found = sorted(system.get_file_info(selector), key=lambda info: info.base_name)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{location} cannot be read: {_first_line(error)}") from error
    files = [
        info
        for info in found
        if info.type == pyarrow.fs.FileType.File
        and info.base_name.lower().endswith((".parquet", ".pq"))
        and not info.base_name.startswith((".", "_"))
    ]
    if not files:
        raise DataError(f"{location} holds no Parquet file, the only format that Ray reads.")
    return files


@contextmanager
def _open(system: pyarrow.fs.FileSystem, path: str) -> Iterator[pq.ParquetFile]:
    try:
        with (
            system.open_input_file(path) as source,
            pq.ParquetFile(source, pre_buffer=False) as file,
        ):
            yield file
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} could not be read: {_first_line(error)}") from error


def _split(number: int, path: str, sizes: list[int], first_row: int) -> Iterator[Part]:
    """Join consecutive row groups to parts of at most `PART_ROWS` rows, or of one row group."""
    begin, n_rows = 0, 0
    for group, size in enumerate(sizes):
        if n_rows and n_rows + size > PART_ROWS:
            yield Part(number, path, (begin, group), first_row, n_rows)
            begin, first_row, n_rows = group, first_row + n_rows, 0
        n_rows += size
    if n_rows:
        yield Part(number, path, (begin, len(sizes)), first_row, n_rows)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
