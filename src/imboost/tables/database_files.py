"""Tables and queries of SQLite and DuckDB files, which are opened read-only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from imboost.errors import DataError, MissingPackageError
from imboost.tables.column_names import check_unique
from imboost.tables.objects import text_table
from imboost.tables.read_options import ReadOptions

SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE \
'sqlite_%' ORDER BY name"
DUCKDB_TABLES = "SELECT table_name FROM information_schema.tables ORDER BY table_name"


def sqlite_batches(path: Path, options: ReadOptions, n_rows: int) -> Iterator[pa.Table]:
    """Read a table or the result of a query; the first batch has no rows.

    Cells are read as text: a column of SQLite may hold values of several types.
    """
    try:
        with closing(_open_sqlite(path)) as connection:
            names = [name for (name,) in connection.execute(SQLITE_TABLES)]
            cursor = connection.execute(_query(path, options.sql, names))
            if cursor.description is None:
                raise DataError(f"The query returns no table: {options.sql}")
            columns = [column[0] for column in cursor.description]
            check_unique(columns, str(path))
            yield text_table(columns, [])
            while rows := cursor.fetchmany(n_rows):
                yield text_table(columns, rows)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _database_error(path, error) from error


def duckdb_batches(path: Path, options: ReadOptions, n_rows: int) -> Iterator[pa.Table]:
    """Read a table or the result of a query with the types of its columns."""
    if find_spec("duckdb") is None:
        raise MissingPackageError("Reading DuckDB files", ["duckdb"], extra="tables")
    import duckdb

    try:
        # Without access to other files: a view of the file could read them.
        with duckdb.connect(
            str(path), read_only=True, config={"enable_external_access": "false"}
        ) as connection:
            names = [name for (name,) in connection.execute(DUCKDB_TABLES).fetchall()]
            relation = connection.sql(_query(path, options.sql, names))
            if relation is None:
                raise DataError(f"The query returns no table: {options.sql}")
            check_unique(relation.columns, str(path))
            reader = relation.to_arrow_reader(n_rows)
            yield reader.schema.empty_table()
            for batch in reader:
                yield pa.Table.from_batches([batch])
    except duckdb.Error as error:
        raise _database_error(path, error) from error


def _open_sqlite(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")  # views of the file may not have effects
    return connection


def _query(path: Path, sql: str | None, names: list[str]) -> str:
    """Return the query: the given one, or all rows of the named or only table."""
    if sql is not None and sql not in names:
        return sql
    if sql is None and len(names) != 1:
        held = f"the tables {', '.join(map(repr, names[:20]))}" if names else "no table"
        raise DataError(f"{path} holds {held}: give --sql with the name of a table, or a query.")
    name = (sql or names[0]).replace('"', '""')
    return f'SELECT * FROM "{name}"'  # noqa: S608 (a name of the file, quoted)


def _database_error(path: Path, error: Exception) -> DataError:
    text = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return DataError(f"{path} could not be read: {text}.")
