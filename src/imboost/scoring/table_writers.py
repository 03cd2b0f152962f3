"""Write tables batch by batch as CSV, Parquet, JSON lines or Excel files."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from imboost.errors import DataError, require
from imboost.persistence.atomic_write import atomic_write
from imboost.tables.cells import is_text, to_cell
from imboost.tables.files import ending_of
from imboost.tables.names import NUMBER

FORMULA_START = r"^[=+\-@\t\r]"
"""First characters of a cell that spreadsheet programs may take for a formula (OWASP)."""

# Limits of Excel
MAX_ROWS = 1_048_575  # below the header
MAX_COLUMNS = 16_384
MAX_CHARACTERS = 32_767  # of a cell
MAX_WHOLE = 2**53  # larger whole numbers would be rounded
FIRST_YEAR = 1900

MARK_COLOUR = "#FFC7CE"  # the fill of Excel's own style "Bad"
MIN_WIDTH, MAX_WIDTH = 8, 40  # characters of a column in Excel
EXCEL_OPTIONS = {
    "constant_memory": True,  # rows go to disk at once and cannot be changed later
    "remove_timezone": True,
}
PATTERNS = {datetime: "yyyy-mm-dd hh:mm:ss", date: "yyyy-mm-dd"}  # a datetime is a date too

Write = Callable[[pa.Table], None]  # writes the next rows of a file


@dataclass(frozen=True)
class WriteOptions:
    """How a table is written."""

    escape_formulas: bool = False  # in CSV: an apostrophe before what would be a formula
    numeric: frozenset[str] = frozenset()  # columns whose text Excel files have as numbers
    marking: str | None = None  # column with the names of the cells to mark in Excel files


def open_writer(
    path: Path, schema: pa.Schema, options: WriteOptions | None = None
) -> AbstractContextManager[Write]:
    """Open a file for tables of a schema; yield a function that writes the next one.

    The ending of the file name decides the format.
    """
    return WRITERS[ending_of(path)](path, schema, options or WriteOptions())


@contextmanager
def _csv_writer(
    path: Path, schema: pa.Schema, options: WriteOptions, delimiter: str = ","
) -> Iterator[Write]:
    compression = "gzip" if path.name.lower().endswith(".gz") else None
    head = _csv_table(schema.empty_table(), options).schema
    written = pa.csv.WriteOptions(delimiter=delimiter)
    with (
        pa.output_stream(path, compression=compression) as stream,
        pa.csv.CSVWriter(stream, head, write_options=written) as writer,
    ):
        yield lambda table: writer.write_table(_csv_table(table, options))


@contextmanager
def _parquet_writer(path: Path, schema: pa.Schema, _: WriteOptions) -> Iterator[Write]:
    with pa.parquet.ParquetWriter(path, schema) as writer:
        yield writer.write_table


@contextmanager
def _json_writer(path: Path, _: pa.Schema, __: WriteOptions) -> Iterator[Write]:
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:

        def write(table: pa.Table) -> None:
            for row in table.to_pylist():
                cells = {name: _json_value(value) for name, value in row.items()}
                file.write(json.dumps(cells, ensure_ascii=False) + "\n")

        yield write


@contextmanager
def _excel_writer(path: Path, schema: pa.Schema, options: WriteOptions) -> Iterator[Write]:
    """Write one sheet with a frozen header and marked cells; text is never a formula."""
    check_excel_package()
    names = schema.names
    if len(names) > MAX_COLUMNS:
        raise DataError(
            f"An Excel file holds at most {MAX_COLUMNS:,} columns, the table has "
            f"{len(names):,}: write CSV or Parquet."
        )
    import xlsxwriter

    with xlsxwriter.Workbook(path, EXCEL_OPTIONS) as book:
        sheet = book.add_worksheet("scores")
        header = book.add_format({"bold": True, "bottom": 1})
        for at, name in enumerate(names):
            sheet.set_column(at, at, min(max(len(name) + 2, MIN_WIDTH), MAX_WIDTH))
            sheet.write_string(0, at, name[:MAX_CHARACTERS], header)
        sheet.freeze_panes(1, 0)
        formats = {
            (is_marked, kind): book.add_format(
                ({"bg_color": MARK_COLOUR} if is_marked else {})
                | {"num_format": PATTERNS[kind] if kind else "General"}
            )
            for is_marked in (False, True)
            for kind in (None, *PATTERNS)
        }
        n_rows = 0

        def write(table: pa.Table) -> None:
            nonlocal n_rows
            if n_rows + table.num_rows > MAX_ROWS:
                raise DataError(
                    f"An Excel file holds at most {MAX_ROWS:,} rows: write CSV or Parquet."
                )
            for row in table.to_pylist():
                n_rows += 1
                marked = row[options.marking] or () if options.marking else ()
                for at, name in enumerate(names):
                    value = _excel_value(row[name], name in options.numeric)
                    kind = next((kind for kind in PATTERNS if isinstance(value, kind)), None)
                    # `write` would take some text for formulas, whatever its options.
                    put = sheet.write_string if isinstance(value, str) else sheet.write
                    put(n_rows, at, value, formats[name in marked, kind])

        yield write
        if n_rows:
            sheet.autofilter(0, 0, n_rows, len(names) - 1)


WRITERS: dict[str, Callable[[Path, pa.Schema, WriteOptions], AbstractContextManager[Write]]] = {
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


def write_table(path: Path, table: pa.Table) -> None:
    """Write an Arrow table atomically; the extension decides the format."""
    with atomic_write(path) as draft, open_writer(draft, table.schema) as write:
        write(table)


def check_excel_package() -> None:
    """Raise if the package that writes Excel files is missing."""
    require("Writing Excel files", "tables", "xlsxwriter")


def _json_value(value: Any) -> Any:
    """Return a value as JSON has it; nan and infinity, which it lacks, are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | list) else to_cell(value)


def _csv_table(table: pa.Table, options: WriteOptions) -> pa.Table:
    """Return a table whose lists are text and, if wanted, whose formulas are not formulas."""
    names, columns = table.column_names, []
    for column in table.columns:
        if pa.types.is_list(column.type):
            column = pc.binary_join(column, "; ")
        if options.escape_formulas and is_text(column.type):
            column = pc.replace_substring_regex(column, rf"({FORMULA_START})", r"'\1")
        columns.append(column)
    if options.escape_formulas:
        names = [f"'{name}" if re.match(FORMULA_START, name) else name for name in names]
    return pa.table(columns, names=names)


def _excel_value(value: Any, is_numeric: bool) -> Any:
    """Return a value as Excel can hold it: text unless it is a number, a boolean or a date."""
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    elif isinstance(value, Decimal) or (
        is_numeric and isinstance(value, str) and re.match(NUMBER, value.strip())
    ):
        value = float(value)
    is_number = isinstance(value, int | float) and math.isfinite(value) and abs(value) < MAX_WHOLE
    is_date = isinstance(value, date) and value.year >= FIRST_YEAR
    if value is None or is_number or is_date:
        return value
    return (to_cell(value) or "")[:MAX_CHARACTERS]
