"""Files of many formats as Arrow tables, at once or in batches of bounded size."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pyarrow as pa

from imboost.errors import DataError, SettingError
from imboost.tables.arrow_files import open_ipc, open_parquet, parquet_rows
from imboost.tables.cells import check_cells
from imboost.tables.database_files import open_duckdb, open_excel, open_sqlite
from imboost.tables.names import check_columns, check_unique
from imboost.tables.read_options import STANDARD_STREAM, ReadOptions, save_standard_input
from imboost.tables.text_files import open_csv, open_json


@dataclass(frozen=True)
class Format:
    """A file format: how its files are read.

    Parameters
    ----------
    name : str
    open : callable
        Opens a file as a reader of batches with about the given number of rows.
    options : tuple of str
        The `ReadOptions` that apply.
    scores : str
        Ending of a file of scores beside such a file.
    n_rows : callable, optional
        Returns the number of rows without reading them.
    """

    name: str
    open: Callable[[Path, ReadOptions, int], pa.RecordBatchReader]
    options: tuple[str, ...] = ()
    scores: str = ".scores.csv"
    n_rows: Callable[[Path], int] | None = None


CSV = Format("CSV", open_csv, ("encoding", "has_header"))
PARQUET = Format("Parquet", open_parquet, scores=".scores.parquet", n_rows=parquet_rows)
ARROW = Format("Arrow", open_ipc, scores=".scores.parquet")
EXCEL = Format("Excel", open_excel, ("has_header", "sheet"), scores=".scores.xlsx")
JSON = Format("JSON", open_json, ("encoding",), scores=".scores.jsonl")
SQLITE = Format("SQLite", open_sqlite, ("sql",))
DUCKDB = Format("DuckDB", open_duckdb, ("sql",), scores=".scores.parquet")

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
        """Read about `n_rows` rows at a time; the first batch of a file holds none.

        The columns of every file must be those of the first one; their order may differ.
        """
        columns: list[str] | None = None
        for path in self.paths:
            with _as_data_errors(path, self.options):
                reader = self.format.open(path, self.options, n_rows)
                names = reader.schema.names
                check_unique(names, str(path))
                columns = columns or names
                check_columns(names, columns, str(path))
                rows = (pa.Table.from_batches([batch]) for batch in reader)
                for table in chain([reader.schema.empty_table()], rows):
                    yield check_cells(table.select(columns), str(path))

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
    except READING_ERRORS as error:
        text = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        if isinstance(error, UnicodeError) or "invalid UTF8" in text:
            encoding = options.encoding or "UTF-8"
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
