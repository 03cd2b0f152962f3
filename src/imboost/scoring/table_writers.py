"""Write tables batch by batch as CSV, Parquet, JSON lines or Excel files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from imboost.scoring.excel_writer import open_sheet
from imboost.tables.cells import is_text, to_cell
from imboost.tables.files import ending_of

FORMULA_START = r"^[=+\-@\t\r]"
"""First characters of a cell that spreadsheet programs may take for a formula (OWASP)."""


class TableWriter(Protocol):
    """Takes the tables of a file, one after the other."""

    def write_table(self, table: pa.Table) -> None:
        """Write the rows of a table."""


@dataclass(frozen=True)
class WriteOptions:
    """How a table is written.

    Parameters
    ----------
    escape_formulas : bool
        In CSV files, put an apostrophe before text that a spreadsheet would run as a formula.
    numeric : frozenset of str
        Columns whose text is written as numbers in Excel files.
    marking : str, optional
        Column with lists of column names: those cells of a row are marked in Excel files.
    """

    escape_formulas: bool = False
    numeric: frozenset[str] = field(default_factory=frozenset)
    marking: str | None = None


def open_writer(
    path: Path, schema: pa.Schema, options: WriteOptions | None = None
) -> AbstractContextManager[TableWriter]:
    """Open a file for tables of a schema; the ending of its name decides the format."""
    return WRITERS[ending_of(path)](path, schema, options or WriteOptions())


@contextmanager
def _csv_writer(
    path: Path, schema: pa.Schema, options: WriteOptions, delimiter: str = ","
) -> Iterator[TableWriter]:
    compression = "gzip" if path.name.lower().endswith(".gz") else None
    head = _csv_table(schema.empty_table(), options).schema
    with (
        pa.output_stream(path, compression=compression) as stream,
        pa.csv.CSVWriter(
            stream, head, write_options=pa.csv.WriteOptions(delimiter=delimiter)
        ) as writer,
    ):
        yield _CSVTables(writer, options)


@contextmanager
def _parquet_writer(path: Path, schema: pa.Schema, _: WriteOptions) -> Iterator[TableWriter]:
    with pa.parquet.ParquetWriter(path, schema) as writer:
        yield writer


@contextmanager
def _json_writer(path: Path, _: pa.Schema, __: WriteOptions) -> Iterator[TableWriter]:
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:
        yield _JSONLines(file)


def _excel_writer(
    path: Path, schema: pa.Schema, options: WriteOptions
) -> AbstractContextManager[TableWriter]:
    return open_sheet(path, schema.names, options.numeric, options.marking)


WRITERS: dict[
    str, Callable[[Path, pa.Schema, WriteOptions], AbstractContextManager[TableWriter]]
] = {
    ".csv": _csv_writer,
    ".csv.gz": _csv_writer,
    ".tsv": partial(_csv_writer, delimiter="\t"),
    ".tsv.gz": partial(_csv_writer, delimiter="\t"),
    ".parquet": _parquet_writer,
    ".pq": _parquet_writer,
    ".jsonl": _json_writer,
    ".jsonl.gz": _json_writer,
    ".ndjson": _json_writer,
    ".xlsx": _excel_writer,
}
"""Writers by the ending of a file name."""


@dataclass(frozen=True)
class _CSVTables:
    writer: Any
    options: WriteOptions

    def write_table(self, table: pa.Table) -> None:
        self.writer.write_table(_csv_table(table, self.options))


@dataclass(frozen=True)
class _JSONLines:
    file: Any

    def write_table(self, table: pa.Table) -> None:
        for row in table.to_pylist():
            cells = {name: _json_value(value) for name, value in row.items()}
            self.file.write(json.dumps(cells, ensure_ascii=False) + "\n")


def _json_value(value: Any) -> Any:
    """Return a value as JSON has it; nan and infinity, which it lacks, are null."""
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if isinstance(value, bool | int | str | list) else to_cell(value)


def _csv_table(table: pa.Table, options: WriteOptions) -> pa.Table:
    """Return a table whose lists are text and, if wanted, whose formulas are not formulas."""
    names, columns = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_list(column.type):
            column = pc.binary_join(column, "; ")
        if options.escape_formulas and is_text(column.type):
            column = pc.replace_substring_regex(column, rf"({FORMULA_START})", r"'\1")
        names.append(_escaped(name) if options.escape_formulas else name)
        columns.append(column)
    return pa.table(columns, names=names)


def _escaped(name: str) -> str:
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name
