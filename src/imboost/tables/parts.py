"""A Parquet table in parts of whole row groups, which may be read independently of each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from imboost.errors import DataError
from imboost.tables.arrow_files import file_system, open_parquet, parquet_metadata, to_location
from imboost.tables.files import (
    PARQUET,
    READ_ROWS,
    TableFiles,
    agreed_columns,
    as_data_errors,
    checked_tables,
)
from imboost.tables.read_options import ReadOptions

PART_ROWS = 1 << 18  # rows of a part: row groups are joined up to this number


@dataclass(frozen=True)
class Part:
    """Consecutive row groups of a file."""

    file: int  # number of the file in the table
    path: str  # path or URL of the file
    groups: tuple[int, int]  # first row group, and the one after the last
    first_row: int  # number of its first row in the table
    n_rows: int

    @property
    def name(self) -> str:
        """Name of the file of its scores; names are sorted as the rows are.

        >>> Part(0, "a.parquet", (2, 4), 600, 300).name
        'part-00000-000002-000004.parquet'
        """
        return f"part-{self.file:05d}-{self.groups[0]:06d}-{self.groups[1]:06d}.parquet"


@dataclass(frozen=True)
class TableParts:
    """A Parquet file, or all files of a folder, as parts."""

    location: str  # path or URL of the file or folder
    columns: tuple[str, ...]  # names, in the order of the first file
    parts: tuple[Part, ...]  # all rows, in order
    fingerprint: str  # hash of names, sizes, times of change and row groups of the files

    @property
    def n_rows(self) -> int:
        """Number of rows that the files declare."""
        return sum(part.n_rows for part in self.parts)

    @classmethod
    def find(cls, location: str | Path) -> TableParts:
        """Read the footers of the files at a path or URL; raise if there are no rows."""
        files, location = TableFiles.find(location), to_location(location)
        if files.format is not PARQUET:
            raise DataError(f"{location} holds {files.format.name}; Ray reads Parquet alone.")
        columns: list[str] | None = None
        parts: list[Part] = []
        seen: list[Any] = []
        for number, path in enumerate(map(to_location, files.paths)):
            with as_data_errors(path):
                metadata = parquet_metadata(path)
                names = metadata.schema.to_arrow_schema().names
                columns = agreed_columns(names, columns, path)
                system, there = file_system(path)
                [info] = system.get_file_info([there])
            sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            first_row = parts[-1].first_row + parts[-1].n_rows if parts else 0
            parts.extend(_split(number, path, sizes, first_row))
            seen.append([info.base_name, info.size, info.mtime_ns, sizes])
        if not parts:
            raise DataError(f"{location} has no rows.")
        fingerprint = sha256(json.dumps([columns, seen]).encode()).hexdigest()
        return cls(location, tuple(columns or ()), tuple(parts), fingerprint)

    def read(self, part: Part) -> Iterator[pa.Table]:
        """Read the rows of a part, some at a time; raise if it does not hold all of them."""
        with as_data_errors(part.path):
            reader = open_parquet(part.path, ReadOptions(), READ_ROWS, part.groups, part.n_rows)
            yield from checked_tables(reader, self.columns, part.path)


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
