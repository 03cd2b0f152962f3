"""Commands read and write the formats in which analysts keep tables."""

import csv
import io
import json
import re
import sqlite3
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from python_calamine import CalamineWorkbook

from imboost import persistence
from imboost.scoring import table_writers
from imboost.scoring.table_writers import WriteOptions, open_writer
from imboost.session import Session
from program_running import orders, read_scores, refused, run_program, run_well, write


def write_sqlite(table, path, name="orders"):
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE {name} ({', '.join(table.column_names)})")
        marks = ", ".join("?" for _ in table.column_names)
        rows = zip(*(column.to_pylist() for column in as_text(table).columns), strict=True)
        connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    connection.close()
    return path


def as_text(table):
    buffer = io.BytesIO()
    pyarrow.csv.write_csv(table, buffer)
    names = table.column_names
    return pyarrow.csv.read_csv(
        io.BytesIO(buffer.getvalue()),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True
        ),
    )


def write_as(table, path):
    if path.suffix == ".db":
        return write_sqlite(table, path)
    if path.suffix == ".csv":
        return write(table, path)
    with open_writer(path, as_text(table).schema, WriteOptions()) as write_rows:
        write_rows(as_text(table))
    return path


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A folder with orders.csv, orders.model and orders.scores.csv."""
    folder = tmp_path_factory.mktemp("shop")
    write(orders(), folder / "orders.csv")
    run_well("fit", folder / "orders.csv")
    run_well("score", folder / "orders.model", folder / "orders.csv")
    return folder


@pytest.fixture
def model(shop):
    return shop / "orders.model"


@pytest.fixture
def data(shop):
    return shop / "orders.csv"


@pytest.mark.parametrize("ending", [".xlsx", ".jsonl", ".db"])
def test_a_table_has_the_same_model_and_scores_in_every_format(shop, tmp_path, ending):
    path = write_as(orders(), tmp_path / f"orders{ending}")
    run_well("fit", path)
    expected = persistence.load(shop / "orders.model").decision_scores_
    found = persistence.load(tmp_path / "orders.model").decision_scores_
    np.testing.assert_allclose(found, expected)
    run_well("score", tmp_path / "orders.model", path, "--out", tmp_path / "scores.csv")
    assert len(read_scores(tmp_path / "scores.csv")["score"]) == 300


def test_a_query_selects_the_rows(tmp_path, model):
    path = write_sqlite(orders(), tmp_path / "shop.db")
    query = "SELECT * FROM orders LIMIT 40"
    ended = run_well("score", model, path, "--sql", query, "--out", tmp_path / "s.csv")
    assert ended.lines[-1] == "Read 40 rows, wrote 40 scores."
    assert "could not be read" in refused("score", model, path, "--sql", "SELECT * FROM no")
    assert "does not apply to CSV" in refused("fit", shop_csv(tmp_path), "--sql", "SELECT 1")


def shop_csv(folder):
    return write(orders(50), folder / "some.csv")


def test_a_table_passes_through_pipes(shop, data, model, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data.read_bytes())))
    ended = run_program("score", model, "-")
    assert ended.code == 0
    lines = list(csv.DictReader(ended.lines))
    expected = read_scores(shop / "orders.scores.csv")
    assert [float(line["score"]) for line in lines] == expected["score"]
    assert ended.errors[-1] == "Read 300 rows, wrote 300 scores."
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data.read_bytes())))
    assert "name the output with --out" in refused("fit", "-")
    run_well("fit", "-", "--out", tmp_path / "piped.model", "--detector", "trees")


def test_control_characters_of_data_are_not_sent_to_a_terminal(tmp_path, model, monkeypatch):
    class TerminalOutput(io.StringIO):
        def isatty(self):
            return True

    table = orders(30)
    table = table.set_column(0, "order_id", pa.array([f"\x1b[31m{n}" for n in range(30)]))
    path = write(table, tmp_path / "red.parquet")
    monkeypatch.setattr("program_running.io.StringIO", TerminalOutput)
    ended = run_program("score", model, path, "--out", "-")
    assert len(ended.lines) == 31
    assert "\x1b[31m" not in ended.text


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".parquet", ".jsonl", ".xlsx"])
def test_reasons_stand_beside_the_scores_in_every_format(shop, data, model, tmp_path, ending):
    out = tmp_path / f"scores{ending}"
    ended = run_well("score", model, data, "--out", out, "--reasons", "5")
    assert "Reasons: 5 rows." in ended.lines
    page = run_program("explain", model, data, "--top", "1", "--json").text
    first = json.loads(page)["rows"][0]
    table = read_any(out)
    assert len(table["score"]) == 300
    explained = [row for row, text in enumerate(table["reason"]) if text]
    assert len(explained) == 5
    assert first["row"] in explained
    columns = table["reason_columns"][first["row"]]
    if ending == ".jsonl":
        columns = json.loads(columns)
    names = columns if isinstance(columns, list) else columns.split("; ")
    assert names[0] == first["reasons"][0]["column"]
    assert table["reason"][first["row"]].startswith(f"{names[0]} is ")


def read_any(path):
    from imboost.tables.files import TableFiles

    return TableFiles.find(path).read().to_pydict()


def test_reasons_of_outliers_are_those_of_rows_called_outliers(data, model, tmp_path):
    run_well("score", model, data, "--out", tmp_path / "s.parquet", "--reasons", "outliers")
    table = pq.read_table(tmp_path / "s.parquet").to_pydict()
    assert [reason is not None for reason in table["reason"]] == table["is_outlier"]
    assert any(table["is_outlier"])


def test_a_table_without_outliers_or_rows_has_no_reasons(model, tmp_path):
    path = write(orders().slice(0, 0), tmp_path / "none.csv")
    run_well("score", model, path, "--out", tmp_path / "s.parquet", "--reasons", "outliers")
    assert pq.read_table(tmp_path / "s.parquet").num_rows == 0


@pytest.mark.parametrize("wrong", ["0", "many", "-3", "10001"])
def test_wrong_numbers_of_reasons_are_refused(data, model, wrong):
    assert "--reasons must be outliers, or a number" in refused(
        "score", model, data, f"--reasons={wrong}"
    )


def test_a_detector_without_explanations_refuses_reasons(data, tmp_path):
    run_well("fit", data, "--detector", "trees", "--out", tmp_path / "trees.model")
    line = refused("score", tmp_path / "trees.model", data, "--reasons", "3")
    assert "Trees cannot explain its scores: leave out --reasons" in line


def test_an_excel_file_shows_whole_rows_with_marked_cells_below_a_frozen_header(
    data, model, tmp_path
):
    out = tmp_path / "scores.xlsx"
    run_well("score", model, data, "--out", out, "--reasons", "2")
    with CalamineWorkbook.from_path(out) as workbook:
        header, *rows = workbook.get_sheet_by_index(0).to_python()
    assert header[:2] == ["order_id", "amount"]
    assert header[-6:] == [
        *("row", "score", "probability", "is_outlier", "reason_columns", "reason")
    ]
    assert len(rows) == 300
    amounts = [row[header.index("amount")] for row in rows]
    assert {type(amount) for amount in amounts if amount != ""} == {float}
    with zipfile.ZipFile(out) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
        styles = archive.read("xl/styles.xml").decode()
    assert re.search(r'<pane ySplit="1" [^>]*state="frozen"', sheet)
    assert table_writers.MARK_COLOUR.lstrip("#") in styles
    marked = set(re.findall(r'<c r="([A-Z]+\d+)" s="([1-9]\d*)"', sheet))
    for number, row in enumerate(rows, 2):
        for name in filter(None, row[-2].split("; ")):
            letters = chr(ord("A") + header.index(name))
            assert any(cell == f"{letters}{number}" for cell, _ in marked), name


def test_an_excel_file_that_would_be_too_large_is_refused(data, model, tmp_path, monkeypatch):
    monkeypatch.setattr(table_writers, "MAX_ROWS", 100)
    line = refused("score", model, data, "--out", tmp_path / "s.xlsx")
    assert "at most 100 rows: write CSV or Parquet" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
def test_formulas_are_escaped_on_request(tmp_path, model, start):
    table = orders(40)
    ids = pa.array([f"{start}cmd|' /C calc'!A{number}" for number in range(40)])
    path = write(table.set_column(0, "order_id", ids), tmp_path / "bad.parquet")
    out = tmp_path / "s.csv"
    run_well("score", model, path, "--out", out)
    with out.open(newline="") as file:
        assert next(csv.reader(list(file)[1:]))[0][0] == start
    run_well("score", model, path, "--out", out, "--escape-formulas")
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["order_id"].startswith(f"'{start}") for row in rows)
    assert all(float(row["score"]) is not None for row in rows)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl", ".xlsx"])
def test_scores_that_exist_are_used_instead_of_scoring_again(
    data, model, tmp_path, monkeypatch, ending
):
    scores = tmp_path / f"orders.scores{ending}"
    run_well("score", model, data, "--out", scores)
    expected = run_well("explain", model, data).text

    def score_again(*_):
        raise AssertionError("the table was scored again")

    monkeypatch.setattr("imboost.scoring.pipeline.score_table", score_again)
    assert run_well("explain", model, data, "--scores", scores).text == expected
    out = tmp_path / "page.html"
    run_well("report", model, data, "--scores", scores, "--out", out)
    assert out.is_file()


def test_scores_of_another_table_or_model_are_refused(shop, data, model, tmp_path):
    scores = shop / "orders.scores.csv"
    some = write(orders().slice(0, 100), tmp_path / "some.csv")
    assert "the scores of 300 rows" in refused("explain", model, some, "--scores", scores)
    other = tmp_path / "other.csv"
    table = pyarrow.csv.read_csv(scores)
    changed = table.set_column(2, "score", pa.array(np.asarray(table["score"]) + 1.0))
    pyarrow.csv.write_csv(changed, other)
    for command in ("explain", "report"):
        options = ("--scores", other)
        assert "another model or table" in refused(command, model, data, *options)
    assert "has no column 'row'" in refused("explain", model, data, "--scores", data)
    pyarrow.csv.write_csv(table.slice(1), other)
    assert "every row of a table once" in refused("explain", model, data, "--scores", other)


def test_explanations_are_printed_as_json(data, model):
    found = json.loads(run_program("explain", model, data, "--row", "A0000017", "--json").text)
    [row] = found["rows"]
    assert row["name"] == "order_id A0000017"
    parts = [reason["contribution"] for reason in row["reasons"]]
    assert row["score"] == pytest.approx(row["baseline"] + row["residual"] + sum(parts))
    assert row["is_outlier"] == (row["score"] > found["threshold"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scaling", "linear"], "Unknown scaling 'linear'"),
        (["--contamination", "0.9"], "contamination must be"),
        (["--role", "amount=numerical"], "Unknown role 'numerical'"),
        (["--outlier-label", "x"], "--outlier-label needs --label-column"),
        (["--encoding", "klingon"], "encoding 'klingon' is not known"),
        (["--detector", "stak"], "Did you mean 'stack'"),
    ],
)
def test_options_of_fit_are_checked_before_the_table_is_read(tmp_path, options, message):
    assert message in refused("fit", tmp_path / "not-there.csv", *options)


def test_options_of_score_are_checked_before_the_table_is_read(tmp_path):
    inputs = (tmp_path / "not-there.model", tmp_path / "not-there.csv")
    assert "--reasons must be" in refused("score", *inputs, "--reasons", "x")
    assert "must end with" in refused("score", *inputs, "--out", tmp_path / "s.docx")
    assert "leave it out with --row" in refused("explain", *inputs, "--row", "1", "--scores", "s")


def test_a_query_can_be_labelled_and_the_session_keeps_its_rows(tmp_path, monkeypatch):
    path = write_sqlite(orders(60), tmp_path / "shop.db")
    monkeypatch.setattr(sys, "stdin", io.StringIO("o\ni\nq\n"))
    ended = run_well("label", path, "--terminal", "--sql", "orders", "--detector", "trees")
    assert "2 answers stored" in ended.lines[-1]
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM orders")
    connection.close()
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    again = run_well("label", path, "--terminal", "--sql", "orders")
    assert "2 answers so far" in again.text
    with Session.open(tmp_path / "shop.session.db") as session:
        assert len(session.history) == 2
    assert "is not a session" in refused("label", path, "--terminal", "--session", path)


def test_a_table_of_an_sqlite_file_is_labelled_without_options(tmp_path, monkeypatch):
    path = write_sqlite(orders(60), tmp_path / "shop.db")
    monkeypatch.setattr(sys, "stdin", io.StringIO("o\nq\n"))
    run_well("label", path, "--terminal", "--detector", "trees")
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    assert "1 answer so far" in run_well("label", tmp_path / "shop.session.db", "--terminal").text


def test_piped_tables_need_a_session_and_no_terminal(tmp_path):
    assert "name a file" in refused("label", "-", "--terminal")
    assert "name a file of the session" in refused("label", "-", "--no-browser")
