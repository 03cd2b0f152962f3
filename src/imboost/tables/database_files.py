"""Tables and queries of SQLite and DuckDB files, and sheets of Excel and OpenDocument files.

A query may read, and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from imboost.errors import DataError, UnknownNameError, first_line, require
from imboost.tables.cells import text_reader, to_cell
from imboost.tables.names import N_CHECKED, check_header, default_names
from imboost.tables.read_options import ReadOptions

MAX_SECONDS = 300.0  # until the next rows of a query; a view may never return one

SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE \
'sqlite_%' ORDER BY name"
SQLITE_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)
# What virtual tables, such as those of full-text search, do when they are opened.
SQLITE_OPENING = (
    (sqlite3.SQLITE_PRAGMA, "data_version"),
    (sqlite3.SQLITE_UPDATE, "sqlite_master"),
)
DUCKDB_TABLES = "SELECT table_name FROM information_schema.tables ORDER BY table_name"
# A view of the file could read other files, and a query write them.
DUCKDB_SETTINGS: dict[str, Any] = {"enable_external_access": "false", "lock_configuration": "true"}


def open_sqlite(path: Path, options: ReadOptions, n_rows: int) -> pa.RecordBatchReader:
    """Open a table or the result of a query.

    Cells are read as text: a column of SQLite may hold values of several types.
    """
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")  # views of the file have no effects
        connection.set_authorizer(_allow_reading)
        names = [name for (name,) in connection.execute(SQLITE_TABLES)]
        query = _query(path, options.sql, names)
        with _time_limit(connection):
            cursor = connection.execute(query)
        if cursor.description is None:
            raise DataError(f"The query returns no table: {options.sql}")
    except BaseException:
        connection.close()
        raise

    rows = chain.from_iterable(_fetch(connection, partial(cursor.fetchmany, n_rows)))
    return text_reader([column[0] for column in cursor.description], rows, n_rows)


def open_duckdb(path: Path, options: ReadOptions, n_rows: int) -> pa.RecordBatchReader:
    """Open a table or the result of a query, with the types of its columns."""
    require("Reading DuckDB files", "tables", "duckdb")
    import duckdb

    try:
        connection = duckdb.connect(str(path), read_only=True, config=DUCKDB_SETTINGS)
        names = [name for (name,) in connection.execute(DUCKDB_TABLES).fetchall()]
        query = _query(path, options.sql, names)
        kinds = [statement.type for statement in connection.extract_statements(query)]
        if kinds != [duckdb.StatementType.SELECT]:
            raise DataError(f"The query should be one SELECT statement, got: {options.sql}")
        with _time_limit(connection):
            reader = connection.sql(query).to_arrow_reader(n_rows)
    except duckdb.Error as error:
        raise DataError(f"{path} could not be read: {first_line(error)}.") from error

    batches = _fetch(connection, partial(next, reader, None))
    return pa.RecordBatchReader.from_batches(reader.schema, batches)


def open_excel(path: Path, options: ReadOptions, n_rows: int) -> pa.RecordBatchReader:
    """Open a sheet."""
    require("Reading Excel files", "tables", "python_calamine")
    rows = _read_rows(path, options.sheet)
    if not rows:
        raise DataError(f"{path} is empty.")
    if options.has_header is False:
        return text_reader(default_names(len(rows[0])), rows, n_rows)
    names = [to_cell(cell) or "" for cell in rows.pop(0)]
    if options.has_header is None and rows:
        first = text_reader(names, rows[:N_CHECKED], N_CHECKED).read_next_batch()
        check_header(names, first, str(path))
    return text_reader(names, rows, n_rows)


def _allow_reading(action: int, argument: str | None, *_: str | None) -> int:
    """Tell SQLite whether a statement may do something."""
    is_reading = action in SQLITE_READING or (action, argument) in SQLITE_OPENING
    return sqlite3.SQLITE_OK if is_reading else sqlite3.SQLITE_DENY


def _fetch(connection: Any, function: Callable[[], Any]) -> Iterator[Any]:
    """Yield what a function returns until that is None or an empty list; close the connection."""
    with closing(connection):
        while True:
            with _time_limit(connection):
                rows = function()
            if rows is None or rows == []:
                return
            yield rows


@contextmanager
def _time_limit(connection: Any) -> Iterator[None]:
    """Interrupt what the connection computes after `MAX_SECONDS`."""
    is_over, is_late = Event(), Event()

    def watch() -> None:
        while not is_over.wait(MAX_SECONDS):
            is_late.set()
            connection.interrupt()

    Thread(target=watch, daemon=True).start()
    try:
        yield
    except Exception as error:
        if is_late.is_set():
            seconds = f"{MAX_SECONDS:g} seconds"
            raise DataError(f"The query returned no rows for {seconds}.") from error
        raise
    finally:
        is_over.set()


def _query(path: Path, sql: str | None, names: list[str]) -> str:
    """Return the query: the given one, or all rows of the named or only table."""
    if sql is not None and sql not in names:
        return sql
    if sql is None and len(names) != 1:
        held = f"the tables {', '.join(map(repr, names[:20]))}" if names else "no table"
        raise DataError(f"{path} holds {held}: give the name of a table, or a query, with `sql`.")
    name = (sql or names[0]).replace('"', '""')
    return f'SELECT * FROM "{name}"'  # noqa: S608 (a name of the file, quoted)


def _read_rows(path: Path, sheet: str | None) -> list[list[Any]]:
    """Return the rows of a sheet that hold anything; empty cells are None."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with CalamineWorkbook.from_path(path) as workbook:
            if sheet is not None and sheet not in workbook.sheet_names:
                raise UnknownNameError("sheet", sheet, workbook.sheet_names)
            name = workbook.sheet_names[0] if sheet is None else sheet
            cells = workbook.get_sheet_by_name(name).to_python(skip_empty_area=True)
    except (CalamineError, IndexError) as error:
        raise DataError(f"{path} could not be read: {first_line(error)}.") from error
    rows = [[None if cell == "" else cell for cell in row] for row in cells]
    return [row for row in rows if any(cell is not None for cell in row)]
