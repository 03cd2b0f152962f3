"""`imboost check`: findings on the terminal, as files and as an exit code."""

import csv
import io
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from page_reading import outside_addresses
from program_running import orders, refused, run_program, run_well, write

N = 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with clean.csv and wrong.csv, whose row 7 has a sentinel."""
    folder = tmp_path_factory.mktemp("check")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": [f"A-{row:04d}" for row in range(N)],
            "age": rng.integers(18, 90, N),
            "region": rng.choice(["North", "South", "Centre"], N),
        }
    )
    frame.to_csv(folder / "clean.csv", index=False)
    frame.loc[7, "age"], frame.loc[9, "region"] = 999, "<b>North"
    frame.loc[12, "region"] = "<b>north"
    frame.to_csv(folder / "wrong.csv", index=False)
    return folder


def test_the_exit_code_tells_whether_something_was_found(folder):
    assert "Nothing found in 200 rows." in run_well("check", folder / "clean.csv").text
    ended = run_program("check", folder / "wrong.csv")
    assert (ended.code, ended.errors) == (1, [])
    assert "age is 999 in 1 row" in ended.text
    assert "sentinels" in ended.text
    assert "2 findings about 2 rows of 200" in ended.text


def test_a_failure_of_the_program_has_an_exit_code_of_its_own(folder, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr("imboost.findings.check.check_table", fail)
    ended = run_program("check", folder / "wrong.csv")
    assert (ended.code, ended.errors[-1]) == (3, "RuntimeError: a bug")


def test_a_table_is_read_as_its_options_say(folder, tmp_path):
    lines = (folder / "wrong.csv").read_text().splitlines()
    (tmp_path / "no-header.csv").write_text(
        "\n".join(lines[1:]).replace("North", "Nörd"), "cp1252"
    )
    line = refused("check", tmp_path / "no-header.csv")
    assert "give its encoding, such as cp1252, with --encoding." in line
    line = refused("check", tmp_path / "no-header.csv", "--encoding", "cp1252")
    assert "give --header no; --header yes if" in line
    options = ("--encoding", "cp1252", "--header", "no")
    assert (
        "column 2 is 999 in 1 row"
        in run_program("check", tmp_path / "no-header.csv", *options).text
    )
    with sqlite3.connect(tmp_path / "two.db") as connection:
        connection.execute("CREATE TABLE a (x)")
        connection.execute("CREATE TABLE b (x)")
        connection.execute("INSERT INTO b VALUES (1), (2)")
    connection.close()
    assert "or a query, with --sql." in refused("check", tmp_path / "two.db")
    assert run_well("check", tmp_path / "two.db", "--sql", "b").lines == [
        "Nothing found in 2 rows."
    ]


def test_findings_are_printed_as_json(folder):
    ended = run_program("check", folder / "wrong.csv", "--json", "--only", "sentinels")
    found = json.loads(ended.text)
    assert (found["table"], found["n_rows"]) == ("wrong.csv", N)
    [finding] = found["findings"]
    assert (finding["kind"], finding["columns"]) == ("sentinels", ["age"])
    assert finding["rows"] == [{"row": 7, "name": "id A-0007", "value": "999"}]
    assert ended.code == 1


def test_findings_are_written_as_csv_json_and_page(folder, tmp_path):
    for ending in ("csv", "json", "html"):
        out = tmp_path / f"findings.{ending}"
        ended = run_program("check", folder / "wrong.csv", "--out", out)
        assert f"Findings: {out}" in ended.text
    lines = list(csv.DictReader(io.StringIO((tmp_path / "findings.csv").read_text())))
    [line] = [line for line in lines if line["kind"] == "sentinels"]
    assert (line["row"], line["name"], line["value"]) == ("7", "id A-0007", "999")
    assert len(json.loads((tmp_path / "findings.json").read_text())["findings"]) == 2
    page = (tmp_path / "findings.html").read_text()
    assert "id A-0007: 999" in page
    assert "<b>" not in page.replace("<b>", "", page.count('class="card"'))
    assert outside_addresses(page) == []


def test_kinds_can_be_chosen(folder):
    ended = run_program("check", folder / "wrong.csv", "--skip", "sentinels")
    assert "age is 999" not in ended.text
    assert run_well("check", folder / "wrong.csv", "--only", "units").code == 0
    assert "Did you mean 'units'" in refused("check", folder / "wrong.csv", "--only", "unit")


def test_roles_are_written_edited_and_read_back(folder, tmp_path):
    roles = tmp_path / "roles.toml"
    run_program("check", folder / "wrong.csv", "--write-roles", roles)
    text = roles.read_text()
    assert '"age" = "numeric"' in text
    roles.write_text(text.replace('"age" = "numeric"', '"age" = "ignored"'))
    ended = run_program("check", folder / "wrong.csv", "--roles", roles)
    assert "age is 999" not in ended.text
    ended = run_program("check", folder / "wrong.csv", "--role", "age=ignored")
    assert "age is 999" not in ended.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "findings.xlsx"), "ends with .csv, .json, .html"),
        (("--roles", "nowhere.toml"), "nowhere.toml does not exist"),
        (("--model", "nowhere"), "The model nowhere does not exist"),
        (("--role", "age=number"), "Unknown role 'number'"),
    ],
)
def test_wrong_options_are_refused(folder, options, message):
    assert message in refused("check", folder / "wrong.csv", *options)


def test_a_missing_or_empty_table_is_refused(tmp_path):
    assert "does not exist" in refused("check", tmp_path / "nothing.csv")
    (tmp_path / "empty.csv").write_text("a,b\n")
    assert "header but no rows" in refused("check", tmp_path / "empty.csv")


def test_columns_that_changed_since_training_are_named(tmp_path):
    data = write(orders(), tmp_path / "orders.csv")
    run_well("fit", data, "--detector", "trees")
    model = ("--model", tmp_path / "orders.model", "--only", "changed")
    assert run_well("check", data, *model).code == 0
    frame = pd.read_csv(data)
    frame["region"] = "Atlantis"
    frame.loc[:200, "amount"] = np.nan
    frame["added"] = 1.5
    frame.drop(columns="order_id").to_csv(tmp_path / "new.csv", index=False)
    ended = run_program("check", tmp_path / "new.csv", *model, "--json")
    texts = [one["message"] for one in json.loads(ended.text)["findings"]]
    assert any(text.startswith("region: 300 cells (100%) hold a value not seen") for text in texts)
    assert "amount: 70% of cells are missing, 7.3% in training." in texts
    assert "added: not in the training table." in texts
    assert any(text.startswith("order_id: not in this table") for text in texts)


def test_the_report_shows_the_findings(tmp_path):
    table = orders()
    data = write(table, tmp_path / "orders.csv")
    run_well("fit", data, "--detector", "trees")
    frame = pd.read_csv(data)
    pd.concat([frame, frame.iloc[[3]]]).to_csv(data, index=False)
    run_well("report", tmp_path / "orders.model", data)
    page = (tmp_path / "orders.report.html").read_text()
    assert "1 row repeats an earlier row in every column." in page
