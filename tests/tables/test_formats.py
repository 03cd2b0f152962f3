"""Excel, JSON, Arrow and database files, standard input, encodings and headers."""

import datetime as dt
import gzip
import io
import json
import os
import sqlite3
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from imboost.errors import DataError, MissingPackageError, SettingError, UnknownNameError
from imboost.tables import database_files
from imboost.tables.files import FORMATS, TableFiles
from imboost.tables.frames import to_arrow
from imboost.tables.parsers import NumberParser
from imboost.tables.read_options import ReadOptions

ROWS = [("A1", 12, 0.5, True, None), ("A2", 7, 1.25, False, "x"), ("A3", "many", 3.0, True, "y")]
NAMES = ("id", "size", "price", "paid", "note")
AS_TEXT = {
    "id": ["A1", "A2", "A3"],
    "size": ["12", "7", "many"],
    "price": ["0.5", "1.25", "3"],
    "paid": ["true", "false", "true"],
    "note": [None, "x", "y"],
}


def read(path, **options):
    return TableFiles.find(path, ReadOptions(**options)).read().to_pydict()


def refused(path, message, kind=DataError, **options):
    with pytest.raises(kind, match=message) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)


def write_excel(path, sheets):
    with xlsxwriter.Workbook(path) as workbook:
        for name, rows in sheets.items():
            sheet = workbook.add_worksheet(name)
            for at, row in enumerate(rows):
                sheet.write_row(at, 0, row)
    return path


def write_sqlite(path, **tables):
    with sqlite3.connect(path) as connection:
        for name, rows in tables.items():
            connection.execute(f'CREATE TABLE "{name}" ({", ".join(NAMES)})')
            connection.executemany(f'INSERT INTO "{name}" VALUES (?, ?, ?, ?, ?)', rows)
    connection.close()
    return path


def test_an_excel_sheet_is_read_as_text(tmp_path):
    path = write_excel(tmp_path / "t.xlsx", {"one": [NAMES, *ROWS], "two": [("a",), ("x",)]})
    assert read(path) == AS_TEXT
    assert read(path, sheet="two") == {"a": ["x"]}
    refused(path, "Unknown sheet 'tow'. Did you mean 'two'", UnknownNameError, sheet="tow")


def test_dates_of_an_excel_sheet_are_dates(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as workbook:
        sheet = workbook.add_worksheet()
        sheet.write_row(0, 0, ["day", "moment"])
        moment = workbook.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        sheet.write_datetime(
            1, 0, dt.datetime(2024, 1, 2), workbook.add_format({"num_format": 14})
        )
        sheet.write_datetime(1, 1, dt.datetime(2024, 1, 2, 13, 30), moment)
    found = {"day": ["2024-01-02"], "moment": ["2024-01-02 13:30:00"]}
    assert read(tmp_path / "t.xlsx") == found


@pytest.mark.parametrize("content", [b"", b"PK\3\4 and no more", b"a,b\n1,2\n"])
def test_a_file_that_is_no_workbook_is_refused(tmp_path, content):
    (tmp_path / "t.xlsx").write_bytes(content)
    refused(tmp_path / "t.xlsx", r"t\.xlsx could not be read")


def test_an_empty_sheet_and_repeated_names_are_refused(tmp_path):
    refused(write_excel(tmp_path / "none.xlsx", {"one": []}), "is empty")
    path = write_excel(tmp_path / "twice.xlsx", {"one": [("a", "a"), (1, 2)]})
    refused(path, "several columns called 'a'")


def test_packages_of_formats_are_named_if_they_are_missing(tmp_path, monkeypatch):
    excel = write_excel(tmp_path / "t.xlsx", {"one": [NAMES, *ROWS]})
    (tmp_path / "t.duckdb").write_bytes(b"")
    monkeypatch.setattr("imboost.errors.find_spec", lambda name: None)
    refused(excel, r"python-calamine: pip install 'imboost\[tables\]'", MissingPackageError)
    refused(tmp_path / "t.duckdb", r"duckdb: pip install 'imboost\[tables\]'", MissingPackageError)


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".jsonl.gz", ".json"])
def test_json_objects_are_read_as_text(tmp_path, ending):
    records = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    records[0].pop("note")
    text = "\n".join(map(json.dumps, records))
    text = json.dumps(records, indent=1) if ending == ".json" else text
    content = gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode()
    (tmp_path / f"t{ending}").write_bytes(content)
    assert read(tmp_path / f"t{ending}") == AS_TEXT | {"price": ["0.5", "1.25", "3.0"]}


def test_numbers_in_json_keep_all_digits_and_nested_values_are_text(tmp_path):
    line = '{"a": 12345678901234567890123, "b": 0.10, "c": {"d": [1, "é"]}, "e": NaN}'
    (tmp_path / "t.jsonl").write_text(line)
    found = {"a": ["12345678901234567890123"], "b": ["0.10"], "c": ['{"d": ["1", "é"]}']}
    assert read(tmp_path / "t.jsonl") == found | {"e": ["NaN"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"{}\n{}\n", "is empty"),
        (b'{"a": 1}\n{"a": \n', "line 2 is not JSON"),
        (b'{"a": 1}\n[1]\n', "line 2 must be an object"),
        (b'[{"a": 1}, 3]', "object 1 must be an object"),
        (b'{"a": ' + b"[" * 100_000, "line 1 is not JSON"),
        (b'{"a": "\xff"}', "not in UTF-8"),
        (b'{"a": "\\ud800"}', "not in UTF-8"),
    ],
)
def test_bad_json_is_refused_with_its_line(tmp_path, content, message):
    (tmp_path / "t.jsonl").write_bytes(content)
    refused(tmp_path / "t.jsonl", message)


@pytest.mark.parametrize("ending", [".xlsx", ".db", ".jsonl"])
def test_numbers_of_three_decimals_are_not_read_a_thousand_times_too_large(tmp_path, ending):
    values = [4.111, 2.081, 425, -135.256]
    path = tmp_path / f"sizes{ending}"
    if ending == ".xlsx":
        write_excel(path, {"sizes": [("size",), *((value,) for value in values)]})
    elif ending == ".db":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE sizes (size)")
            connection.executemany("INSERT INTO sizes VALUES (?)", [(value,) for value in values])
    else:
        path.write_text("\n".join(json.dumps({"size": value}) for value in values))
    cells = TableFiles.find(path, ReadOptions()).read().column("size")
    assert NumberParser.fit_parse(cells)[1].tolist() == values


@pytest.mark.parametrize("ending", [".feather", ".arrow", ".ipc"])
@pytest.mark.parametrize("is_stream", [True, False])
def test_arrow_files_and_streams_are_read_with_their_types(tmp_path, ending, is_stream):
    table = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})
    path = tmp_path / f"t{ending}"
    make = pa.ipc.new_stream if is_stream else pa.ipc.new_file
    with make(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    assert TableFiles.find(path).read() == table


def test_feather_files_of_pandas_are_read(tmp_path):
    pyarrow.feather.write_feather(pd.DataFrame({"a": [1.5, 2.5]}), tmp_path / "t.feather")
    assert read(tmp_path / "t.feather") == {"a": [1.5, 2.5]}


def test_the_table_of_an_sqlite_file_is_read_as_text(tmp_path):
    path = write_sqlite(tmp_path / "t.db", orders=ROWS)
    expected = AS_TEXT | {"paid": ["1", "0", "1"]}  # SQLite has no booleans
    assert read(path) == expected
    assert read(path, sql="orders") == expected
    assert read(path, sql="SELECT id, price * 2 AS twice FROM orders WHERE paid") == {
        "id": ["A1", "A3"],
        "twice": ["1", "6"],
    }


def test_of_several_tables_one_must_be_named(tmp_path):
    path = write_sqlite(tmp_path / "t.db", **{"a": ROWS, "b c": ROWS[:1]})
    refused(path, """holds the tables 'a', 'b c': give .* with `sql`""")
    assert read(path, sql="b c")["id"] == ["A1"]
    refused(path, "no such table: missing", sql="SELECT * FROM missing")
    refused(path, "no such column", sql="SELECT colour FROM a")
    refused(path, "one statement at a time", sql="SELECT 1; SELECT 2")
    refused(path, "several columns called 'id'", sql="SELECT id, id FROM a")
    (tmp_path / "no.db").write_bytes(b"something else, long enough to be a header of a file")
    refused(tmp_path / "no.db", "could not be read: file is not a database")


def test_a_query_cannot_change_a_database(tmp_path):
    path = write_sqlite(tmp_path / "t.db", orders=ROWS)
    new, small = tmp_path / "new.db", tmp_path / "empty.db"
    small.touch()
    for query in (
        "DELETE FROM orders RETURNING id",
        f"VACUUM INTO '{new}'",
        f"VACUUM INTO '{small}'",
        f"ATTACH '{new}' AS other",
        "PRAGMA journal_mode = WAL",
    ):
        refused(path, "a query may only read", sql=query)
    assert not new.exists()
    assert small.read_bytes() == b""
    assert len(read(path)["id"]) == 3


def test_full_text_tables_are_read(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE VIRTUAL TABLE notes USING fts5(text)")
        connection.execute("INSERT INTO notes VALUES ('a red house'), ('a blue one')")
    connection.close()
    assert read(tmp_path / "t.db", sql="SELECT * FROM notes WHERE notes MATCH 'red'") == {
        "text": ["a red house"]
    }


def test_a_query_that_never_ends_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(database_files, "MAX_SECONDS", 0.05)
    path = write_sqlite(tmp_path / "t.db", orders=ROWS)
    endless = (
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT sum(x) FROM t"
    )
    refused(path, "The query returned no rows for", sql=endless)
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE a AS SELECT range FROM range(1000000)")
    endless = "SELECT count(*) FROM a x, a y, a z WHERE x.range + y.range = z.range + 0.5"
    refused(tmp_path / "t.duckdb", "The query returned no rows for", sql=endless)


def test_a_duckdb_file_is_read_with_its_types(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE orders AS SELECT range AS id, 'x' AS kind FROM range(5)")
    assert read(tmp_path / "t.duckdb") == {"id": [0, 1, 2, 3, 4], "kind": ["x"] * 5}
    assert read(tmp_path / "t.duckdb", sql="FROM orders WHERE id > 2")["id"] == [3, 4]
    refused(tmp_path / "t.duckdb", "could not be read", sql="SELECT * FROM nothing")
    for query in (
        "DROP TABLE orders",
        f"ATTACH '{tmp_path / 'new.duckdb'}' AS other",
        f"COPY orders TO '{tmp_path / 'new.csv'}'",
        f"EXPORT DATABASE '{tmp_path / 'new'}'",
        "SELECT 1 AS a; SELECT 2 AS a",
        "SET threads = 1",
    ):
        refused(tmp_path / "t.duckdb", "should be one SELECT statement", sql=query)
    assert [path.name for path in tmp_path.iterdir()] == ["t.duckdb"]


def test_a_view_of_a_duckdb_file_cannot_read_other_files(tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(f"CREATE VIEW v AS SELECT * FROM '{tmp_path / 'secret.csv'}'")
    refused(tmp_path / "t.duckdb", "could not be read")


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        (b"a,b\n1,x\n2,y\n", "csv"),
        (gzip.compress(b"a,b\n1,x\n2,y\n", mtime=0), "gz"),
        (b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n', "jsonl"),
        (b'[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]', "jsonl"),
        (b'\n [\n{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]', "jsonl"),
        (gzip.compress(b'[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]'), "jsonl.gz"),
    ],
    ids=["csv", "gz", "jsonl", "array", "indented array", "compressed array"],
)
def test_standard_input_is_read_in_the_format_that_it_has(monkeypatch, content, ending):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    files = TableFiles.find("-")
    assert files.paths[0].name.endswith(ending)
    assert files.read().to_pydict() == {"a": ["1", "2"], "b": ["x", "y"]}


def test_a_parquet_file_may_come_from_standard_input(monkeypatch):
    content = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2]}), content)
    content.seek(0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    assert read("-") == {"a": [1, 2]}


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "iso-8859-15", "utf-8"])
def test_a_csv_file_is_read_in_the_given_encoding(tmp_path, encoding):
    text = "größe,kind\n1.5,é\n2.5,ü\n"
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    assert read(tmp_path / "t.csv", encoding=encoding) == {
        "größe": ["1.5", "2.5"],
        "kind": ["é", "ü"],
    }


def test_wrong_encodings_and_options_are_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes("a,b\n1,é\n2,b\n".encode("cp1252"))
    refused(tmp_path / "t.csv", "not in UTF-8; .* with `encoding`")
    refused(tmp_path / "t.csv", "not in ascii", encoding="ascii")
    for name in ("klingon", "base64", "zip"):
        refused(tmp_path / "t.csv", f"encoding '{name}' is not known", SettingError, encoding=name)
    refused(tmp_path / "t.csv", "'sql' does not apply to CSV files", SettingError, sql="SELECT 1")


@pytest.mark.parametrize(
    "lines",
    [
        ["4.5,red,2024-01-03", "3.5,blue,2024-01-04", "1.5,red,2024-02-03"],
        ["17,3", "12,5", "4,9", "1,1"],
        ["2024-01-03 10:00:00,x", "2024-01-04 11:00:00,y"],
        [",5.1,setosa", "2,4.9,setosa", "3,4.7,virginica"],
    ],
)
def test_a_missing_header_is_noticed(tmp_path, lines):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([*lines, ""]))
    refused(path, r"t\.csv seems to have no header: its first line holds .*`has_header=False`")
    found = read(path, has_header=False)
    assert next(iter(found)) == "column 1"
    assert len(found["column 1"]) == len(lines)
    assert len(read(path, has_header=True).popitem()[1]) == len(lines) - 1


@pytest.mark.parametrize(
    "lines",
    [
        ["a,b", "1,2", "3,4"],
        ["country,2019,2020", "x,1.5,2", "y,3,4"],
        ["2019,2020,2021", "1,2,3", "4,5,6"],
        ["0,1,2", "1.5,2.5,3.5"],
        ["2024-01-01,2024-02-01", "5,6", "7,8"],
        ["kind,colour", "a,red", "b,blue"],
        ["700.5,650.25,600", "0.1,0.2,0.3"],
    ],
)
def test_a_header_of_numbers_or_dates_may_be_a_header(tmp_path, lines):
    (tmp_path / "t.csv").write_text("\n".join([*lines, ""]))
    assert list(read(tmp_path / "t.csv")) == lines[0].split(",")


def test_a_sheet_without_header_is_noticed(tmp_path):
    path = write_excel(tmp_path / "t.xlsx", {"one": [(4.5, "x"), (3.5, "y")]})
    refused(path, "seems to have no header: its first line holds 4.5, x")
    assert read(path, has_header=False) == {"column 1": ["4.5", "3.5"], "column 2": ["x", "y"]}


@pytest.mark.parametrize("length", [131_073, 1_000_000])
def test_a_long_header_line_is_read(tmp_path, length):
    names = [f"column {number:05d}" for number in range(length // 13)]
    path = tmp_path / "t.csv"
    path.write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    assert list(read(path)) == names
    path.write_text("x" * length + ",b\n1,2\n")
    assert list(read(path)) == ["x" * length, "b"]


def test_a_header_line_without_end_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"x" * (1 << 23))
    refused(tmp_path / "t.csv", "the first line is longer than 4 MiB")


def test_a_pipe_is_no_table(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    refused(tmp_path / "t.csv", "is not a regular file")


def test_every_ending_has_a_format():
    assert {one.name for one in FORMATS.values()} == {
        *("CSV", "Parquet", "Arrow", "Excel", "JSON", "SQLite", "DuckDB")
    }


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, 2.5, "many", None], ["1", "2.5", "many", None]),
        ([1.0, "x", True], ["1", "x", "true"]),
        ([dt.date(2024, 1, 1), dt.datetime(2024, 1, 2, 5)], ["2024-01-01", "2024-01-02 05:00:00"]),
        ([2**70, 1], [str(2**70), "1"]),
        ([1, 2, None], [1, 2, None]),
        (["a", None, float("nan")], ["a", None, None]),
        ([np.int64(1), 2.5], [1.0, 2.5]),
    ],
)
def test_object_columns_of_pandas_become_one_type_or_text(cells, expected):
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object)})
    assert to_arrow(frame).column("a").to_pylist() == expected


def test_lazy_frames_and_lists_of_dictionaries_are_tables():
    frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    assert to_arrow(frame.lazy().filter(pl.col("a") > 1)).to_pydict() == {
        "a": [2, 3],
        "b": ["y", "z"],
    }
    assert to_arrow(frame.to_dicts()).to_pydict() == frame.to_dict(as_series=False)
    assert to_arrow([{"a": 1}, {"b": "x"}]).to_pydict() == {"a": [1, None], "b": [None, "x"]}
