"""Files of many formats as Arrow tables: at once, in batches or in independent parts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.fs import FileSelector, FileType

from imboost.errors import DataError, SettingError, first_line
from imboost.tables.arrow_files import (
    file_system,
    open_ipc,
    open_parquet,
    parquet_metadata,
    parquet_rows,
    to_location,
)
from imboost.tables.cells import check_cells
from imboost.tables.database_files import open_duckdb, open_excel, open_sqlite
from imboost.tables.names import check_columns, check_unique
from imboost.tables.read_options import STANDARD_STREAM, ReadOptions, save_standard_input
from imboost.tables.text_files import open_csv, open_json

READ_ROWS = 1 << 16  # rows read at a time
PART_ROWS = 1 << 18  # rows of a part: row groups are joined up to this number


@dataclass(frozen=True)
class Format:
    """A file format: how its files are read, in batches of about a number of rows."""

    name: str
    endings: str  # of the names of such files
    open: Callable[[Path, ReadOptions, int], pa.RecordBatchReader]
    options: tuple[str, ...] = ()  # names of the `ReadOptions` that apply
    scores: str = ".scores.csv"  # ending of a file of scores beside such a file
    n_rows: Callable[[Path], int] | None = None  # of a file, without reading them


CSV = Format("CSV", ".csv .csv.gz .tsv .tsv.gz", open_csv, ("encoding", "has_header"))
PARQUET = Format(
    "Parquet", ".parquet .pq", open_parquet, scores=".scores.parquet", n_rows=parquet_rows
)
ARROW = Format("Arrow", ".feather .arrow .ipc", open_ipc, scores=".scores.parquet")
EXCEL = Format(
    "Excel", ".xlsx .xlsm .xlsb .xls .ods", open_excel, ("has_header", "sheet"), ".scores.xlsx"
)
JSON = Format("JSON", ".jsonl .jsonl.gz .ndjson .json", open_json, ("encoding",), ".scores.jsonl")
SQLITE = Format("SQLite", ".db .sqlite .sqlite3", open_sqlite, ("sql",))
DUCKDB = Format("DuckDB", ".duckdb", open_duckdb, ("sql",), ".scores.parquet")

FORMATS = {
    ending: one
    for one in (CSV, PARQUET, ARROW, EXCEL, JSON, SQLITE, DUCKDB)
    for ending in one.endings.split()
}
"""Formats by the ending of a file name."""


READING_ERRORS = (
    *(UnicodeError, pa.ArrowException, OSError, OverflowError, EOFError),
    *(sqlite3.Error, sqlite3.Warning),
)
"""What formats raise for files that are damaged, or not what their names say."""


@dataclass(frozen=True)
class TableFiles:
    """A table in one file, or in all files of a folder.

    Cells of CSV, Excel, JSON and SQLite files are read as text; `imboost.tables.schema` parses
    them.
    """

    paths: tuple[Path, ...]  # files with the same columns, in the order of their rows
    format: Format
    options: ReadOptions = field(default_factory=ReadOptions)

    @classmethod
    def find(cls, path: Path | str, options: ReadOptions | None = None) -> TableFiles:
        """Find the table file at a path, or all in a folder; raise if there are none.

        The path "-" is standard input. Parquet may also be at a URL, such as s3://bucket/folder.
        """
        path, options = Path(path), options or ReadOptions()
        files = _find_files(save_standard_input() if path == STANDARD_STREAM else path)
        found = next(iter(files.values()))
        for name in options.given:
            if name not in found.options:
                shown = name.removeprefix("has_")
                raise SettingError(f"The option '{shown}' does not apply to {found.name} files.")
        return cls(tuple(files), found, options)

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None for files that would have to be read."""
        if self.format.n_rows is None:
            return None
        total = 0
        for path in self.paths:
            with _as_data_errors(path, self.options):
                total += self.format.n_rows(path)
        return total

    def read(self) -> pa.Table:
        """Read all rows into memory."""
        return self.join(list(self.batches()))

    def join(self, batches: Sequence[pa.Table]) -> pa.Table:
        """Join batches of rows; raise if the types of a column do not fit together."""
        columns = {}
        for name in batches[0].column_names:
            parts = [batch.select([name]) for batch in batches]
            try:
                columns[name] = pa.concat_tables(parts, promote_options="permissive").column(0)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise self._mixed_types(name) from error
        return pa.table(columns)

    def batches(self, n_rows: int = READ_ROWS) -> Iterator[pa.Table]:
        """Read about `n_rows` rows at a time; the first batch of a file holds none.

        The columns of every file must be those of the first one; their order may differ.
        """
        columns: list[str] | None = None
        for path in self.paths:
            with _as_data_errors(path, self.options):
                reader = self.format.open(path, self.options, n_rows)
                columns = _agreed_columns(reader.schema.names, columns, path)
                yield from _checked_tables(reader, columns, path)

    def _mixed_types(self, name: str) -> DataError:
        """Return the error of a column with types that do not fit together."""
        files: dict[str, str] = {}  # the first one with each type
        for path in self.paths:
            schema = self.format.open(path, self.options, 1).schema
            files.setdefault(str(schema.field(name).type), path.name)
        types = ", ".join(f"{kind} in {file}" for kind, file in files.items())
        return DataError(
            f"The files in {self.paths[0].parent} do not fit together: the type of the column "
            f"'{name}' is {types}. Write it with one type."
        )


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
            with _as_data_errors(path):
                metadata = parquet_metadata(path)
                names = metadata.schema.to_arrow_schema().names
                columns = _agreed_columns(names, columns, path)
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
        with _as_data_errors(part.path):
            reader = open_parquet(part.path, ReadOptions(), READ_ROWS, part.groups, part.n_rows)
            yield from _checked_tables(reader, self.columns, part.path)


def path_beside(data: Path, ending: str) -> Path:
    """Return the path of a data file with another ending.

    >>> path_beside(Path("shop/orders.csv.gz"), ".model").as_posix()
    'shop/orders.model'
    """
    data = data.resolve() if data.name in ("", "..") else data
    old = ending_of(data)
    return data.with_name(data.name[: len(data.name) - len(old)] + ending)


def ending_of(path: Path) -> str:
    """Return the longest known ending of a file name; empty if there is none.

    >>> ending_of(Path("orders.CSV.gz")), ending_of(Path("orders.txt"))
    ('.csv.gz', '')
    """
    name = path.name.lower()
    return max((end for end in FORMATS if name.endswith(end)), key=len, default="")


def _agreed_columns(names: list[str], first: list[str] | None, where: Path | str) -> list[str]:
    """Return the columns of the first file; raise unless this one has them, each once."""
    check_unique(names, str(where))
    check_columns(names, first or names, str(where))
    return first or names


def _checked_tables(
    reader: pa.RecordBatchReader, columns: Sequence[str], where: Path | str
) -> Iterator[pa.Table]:
    """Yield a table without rows and then the batches of a file, with checked cells."""
    rows = (pa.Table.from_batches([batch]) for batch in reader)
    for table in chain([reader.schema.empty_table()], rows):
        yield check_cells(table.select(columns), str(where))


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


def _find_files(path: Path) -> dict[Path, Format]:
    """Return the file at a path, or the tables in a folder sorted by name, with their format.

    Names that begin with a dot or an underscore are not tables, as in Hive, Spark and Arrow.
    """
    system, there = file_system(path)
    with _as_data_errors(path):
        [info] = system.get_file_info([there])
        if info.type == FileType.NotFound:
            raise DataError(f"{path} does not exist.")
        if info.type != FileType.Directory:
            if not (ending := ending_of(path)):
                endings = ", ".join(FORMATS)
                raise DataError(f"{path} is not a table: its name should end with {endings}.")
            if info.type == FileType.File:
                return {path: FORMATS[ending]}
            raise DataError(f"{path} is not a regular file: copy it to one, or give - to pipe it.")
        children = system.get_file_info(FileSelector(there))
    names = sorted(child.base_name for child in children if child.is_file)
    tables = [path / name for name in names if not name.startswith((".", "_"))]
    files = {table: FORMATS[ending] for table in tables if (ending := ending_of(table))}
    kinds = sorted({one.name for one in files.values()})
    if len(kinds) != 1:
        held = f"{' and '.join(kinds)} files" if kinds else "no table"
        raise DataError(f"The folder {path} holds {held}; it should hold files of one format.")
    return files


@contextmanager
def _as_data_errors(path: Path | str, options: ReadOptions | None = None) -> Iterator[None]:
    """Convert errors of Arrow and of the system to a DataError of one line that names the file."""
    try:
        yield
    except READING_ERRORS as error:
        text = first_line(error)
        if isinstance(error, UnicodeError) or "invalid UTF8" in text:
            encoding = (options and options.encoding) or "UTF-8"
            raise DataError(
                f"{path} is not in {encoding}; save it in UTF-8, or give its encoding, such as "
                "cp1252, with `encoding`."
            ) from error
        if "Expected" in text and "columns, got" in text:
            raise DataError(
                f"{path} is ragged: {text.removeprefix('CSV parse error: ')}. Every line needs "
                "as many cells as the first; cells with delimiters need quotes."
            ) from error
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_AUTH:
            text = "a query may only read"
        raise DataError(f"{path} could not be read: {text}.") from error
