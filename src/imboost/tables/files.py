"""Files of many formats as Arrow tables, at once or in batches of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from imboost.errors import DataError, SettingError
from imboost.tables.arrow_files import ipc_batches, parquet_batches, parquet_rows
from imboost.tables.arrow_types import check_cells
from imboost.tables.column_names import check_columns
from imboost.tables.csv_files import csv_batches
from imboost.tables.database_files import duckdb_batches, sqlite_batches
from imboost.tables.excel_files import excel_batches
from imboost.tables.json_files import json_batches
from imboost.tables.read_options import ReadOptions
from imboost.tables.standard_input import STANDARD_STREAM, save_standard_input


@dataclass(frozen=True)
class Format:
    """A file format: how its files are read.

    Parameters
    ----------
    name : str
    batches : callable
        Yields the tables of a file: the first one without rows, the others with about the given
        number of rows.
    options : tuple of str
        The `ReadOptions` that apply.
    scores : str
        Ending of a file of scores beside such a file.
    n_rows : callable, optional
        Returns the number of rows without reading them.
    """

    name: str
    batches: Callable[[Path, ReadOptions, int], Iterator[pa.Table]]
    options: tuple[str, ...] = ()
    scores: str = ".scores.csv"
    n_rows: Callable[[Path], int] | None = None


CSV = Format("CSV", csv_batches, ("encoding", "has_header"))
PARQUET = Format("Parquet", parquet_batches, scores=".scores.parquet", n_rows=parquet_rows)
ARROW = Format("Arrow", ipc_batches, scores=".scores.parquet")
EXCEL = Format("Excel", excel_batches, ("has_header", "sheet"), scores=".scores.xlsx")
JSON = Format("JSON", json_batches, ("encoding",), scores=".scores.jsonl")
SQLITE = Format("SQLite", sqlite_batches, ("sql",))
DUCKDB = Format("DuckDB", duckdb_batches, ("sql",), scores=".scores.parquet")

FORMATS: dict[str, Format] = {
    ".csv": CSV,
    ".csv.gz": CSV,
    ".tsv": CSV,
    ".tsv.gz": CSV,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".feather": ARROW,
    ".arrow": ARROW,
    ".ipc": ARROW,
    ".xlsx": EXCEL,
    ".xlsm": EXCEL,
    ".xlsb": EXCEL,
    ".xls": EXCEL,
    ".ods": EXCEL,
    ".jsonl": JSON,
    ".jsonl.gz": JSON,
    ".ndjson": JSON,
    ".json": JSON,
    ".db": SQLITE,
    ".sqlite": SQLITE,
    ".sqlite3": SQLITE,
    ".duckdb": DUCKDB,
}
"""Formats by the ending of a file name."""


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

        The path "-" is standard input.
        """
        path, options = Path(path), options or ReadOptions()
        if path == STANDARD_STREAM:
            path = save_standard_input()
        elif not path.exists():
            raise DataError(f"{path} does not exist.")
        files = _files_in(path) if path.is_dir() else {path: _format_of(path)}
        found = next(iter(files.values()))
        if not (path.is_file() or path.is_dir()):
            raise DataError(f"{path} is not a regular file: copy it to one, or give - to pipe it.")
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

    def batches(self, n_rows: int = 1 << 16) -> Iterator[pa.Table]:
        """Read about `n_rows` rows at a time; the first batch may hold none.

        The columns of every file must be those of the first one; their order may differ.
        """
        columns: list[str] | None = None
        for path in self.paths:
            with _as_data_errors(path, self.options):
                for batch in self.format.batches(path, self.options, n_rows):
                    columns = columns or batch.column_names
                    check_columns(batch.column_names, columns, str(path))
                    yield check_cells(batch.select(columns), str(path))

    def _mixed_types(self, name: str) -> DataError:
        """Return the error of a column with types that do not fit together."""
        files: dict[str, str] = {}  # the first one with each type
        for path in self.paths:
            head = next(iter(self.format.batches(path, self.options, 1)))
            files.setdefault(str(head.schema.field(name).type), path.name)
        types = ", ".join(f"{kind} in {file}" for kind, file in files.items())
        return DataError(
            f"The files in {self.paths[0].parent} do not fit together: the type of the column "
            f"'{name}' is {types}. Write it with one type."
        )


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


def _format_of(path: Path) -> Format:
    ending = ending_of(path)
    if not ending:
        raise DataError(f"{path} is not a table: its name should end with {', '.join(FORMATS)}.")
    return FORMATS[ending]


def _files_in(folder: Path) -> dict[Path, Format]:
    """Return the tables in a folder, sorted by name, with their format.

    Names that begin with a dot or an underscore are not tables, as in Hive, Spark and Arrow.
    """
    children = sorted(child for child in folder.iterdir() if child.is_file())
    children = [child for child in children if not child.name.startswith((".", "_"))]
    files = {child: FORMATS[end] for child in children if (end := ending_of(child))}
    names = sorted({one.name for one in files.values()})
    if len(names) != 1:
        kinds = f"{' and '.join(names)} files" if names else "no table"
        raise DataError(f"The folder {folder} holds {kinds}; it should hold files of one format.")
    return files


@contextmanager
def _as_data_errors(path: Path, options: ReadOptions) -> Iterator[None]:
    """Convert errors of Arrow and of the system to a DataError of one line that names the file."""
    try:
        yield
    except (UnicodeError, pa.ArrowException, OSError, OverflowError, EOFError) as error:
        text = (str(error).splitlines() or [type(error).__name__])[0]
        if isinstance(error, UnicodeError) or "invalid UTF8" in text:
            encoding = options.encoding or "UTF-8"
            raise DataError(
                f"{path} is not in {encoding}; save it in UTF-8, or name its encoding, such as "
                "--encoding cp1252."
            ) from error
        if "Expected" in text and "columns, got" in text:
            raise DataError(
                f"{path} is ragged: {text.removeprefix('CSV parse error: ')}. Every line needs "
                "as many cells as the first; cells with delimiters need quotes."
            ) from error
        raise DataError(f"{path} could not be read: {text}") from error
