"""Tables as they should not be: a clear line, or a treatment that is message."""

import re

import numpy as np
import pyarrow as pa
import pytest

from imboost import ALTBI, persistence
from program_running import orders, read_scores, refused, run_well, write


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    run_well("fit", write(orders(), folder / "orders.csv"), "--detector", "trees")
    return folder / "orders.model"


def fit(path, *options):
    return run_well("fit", path, "--detector", "trees", *options).text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b\n", "header but no rows"),
        (b"a,b\n1,2\n", "has one row; training needs at least two rows"),
        (b"a,a,b\n1,2,3\n1,3,4\n", "several columns called 'a'"),
        (b"a,b\n1,2\n3\n", "ragged"),
        (b'a,b\n1,"2\n3,4\n5,6\n', "quote"),
        (b"a,b\n1,\xe9t\xe9\n2,b\n", "not in UTF-8"),
        ("a,b\n1,é\n2,b\n".encode("utf-16"), "UTF-8"),
        (b"a,b\n1,1\n1,1\n", "No column can be used for scoring"),
        (b"a,b\n,\n,\n", "No column can be used for scoring: a (constant), b (constant)"),
    ],
    ids=[
        "empty",
        "header only",
        "one row",
        "duplicate names",
        "ragged",
        "unclosed quote",
        "latin-1",
        "utf-16",
        "constants",
        "all missing",
    ],
)
def test_a_table_that_cannot_be_learned_from_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert message in refused("fit", path)
    assert [child.name for child in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,a,b\n1,2,3\n1,3,4\n", "several columns called 'a'"),
        (b"a,b\n1,2\n3\n", "ragged"),
        (b"a,b\n1,\xe9t\xe9\n", "not in UTF-8"),
        (b'a,b\n1,"2\n3,4\n5,6\n', "line 2: a quote opens a cell"),
        (b"a,b\n1,2\n", "lacks the columns 'amount', 'tax'"),
    ],
    ids=["empty", "duplicate names", "ragged", "latin-1", "stray quote", "other columns"],
)
@pytest.mark.parametrize("command", ["score", "explain", "report"])
def test_a_table_that_cannot_be_scored_is_refused_in_one_line(
    tmp_path, model, command, content, message
):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert message in refused(command, model, path)
    assert [child.name for child in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize("name", ["table.parquet", "table.csv.gz"])
def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path, model, name):
    (tmp_path / name).write_bytes(b"something else")
    assert "could not be read" in refused("score", model, tmp_path / name)
    assert "could not be read" in refused("fit", tmp_path / name)


def test_an_extra_column_is_refused_and_it_is_said_what_to_do(tmp_path, model):
    table = orders().append_column("more", pa.array(range(300)))
    line = refused("score", model, write(table, tmp_path / "more.csv"))
    assert line.endswith("has the extra column 'more': leave it out, or fit again.")


@pytest.mark.parametrize(("role", "wanted"), [("numeric", "number"), ("datetime", "date or time")])
def test_a_role_that_no_cell_suits_is_refused_in_one_line(tmp_path, role, wanted):
    path = write(orders(), tmp_path / "orders.csv")
    line = refused("fit", path, "--role", f"region={role}")
    assert line == f"imboost: Column 'region' cannot be {role}: no cell holds a {wanted}."


def test_dates_are_read_as_in_training_whatever_rows_come_with_them(tmp_path):
    days = np.arange("2024-01-01", "2024-10-27", dtype="datetime64[D]").tolist()
    table = orders().append_column("day", pa.array([day.strftime("%m/%d/%Y") for day in days]))
    fit(write(table, tmp_path / "days.csv"))
    model = tmp_path / "days.model"
    run_well("score", model, tmp_path / "days.csv")
    run_well("score", model, write(table.slice(0, 9), tmp_path / "few.csv"))
    all_scores = read_scores(tmp_path / "days.scores.csv")["score"]
    assert read_scores(tmp_path / "few.scores.csv")["score"] == all_scores[:9]


def test_cells_that_are_no_dates_or_no_truths_count_as_missing_and_are_reported(tmp_path):
    day = [f"2024-02-{1 + row % 28:02d}" for row in range(300)]
    table = orders().append_column("day", pa.array(day))
    table = table.append_column("paid", pa.array([["Y", "N"][row % 2] for row in range(300)]))
    fit(write(table, tmp_path / "days.csv"))
    later = table.slice(0, 20).to_pylist()
    later[3] |= {"day": "2024-02-30", "paid": "maybe"}
    path = write(pa.Table.from_pylist(later, table.schema), tmp_path / "later.csv")
    run_well("report", tmp_path / "days.model", path)
    page = (tmp_path / "later.report.html").read_text()
    assert "1 cell holds no date or time and counts as missing" in page
    assert "1 cell holds no boolean and counts as missing" in page


@pytest.mark.parametrize("command", ["explain", "report"])
def test_a_table_without_rows_has_nothing_to_explain(tmp_path, model, command):
    path = write(orders().slice(0, 0), tmp_path / "none.csv")
    assert "header but no rows" in refused(command, model, path)


def test_one_row_has_nothing_to_be_compared_with(tmp_path):
    path = write(orders(30).slice(0, 1), tmp_path / "one.csv")
    assert "has one row" in refused("fit", path, "--role", "amount=numeric")


def test_a_column_of_mixed_types_is_reported_and_its_text_counts_as_missing(tmp_path):
    sizes = [f"{row / 7:.3f}" for row in range(200)]
    sizes[5] = "many"
    table = pa.table({"size": sizes, "kind": ["a", "b", "1", "2.5"] * 50})
    output = fit(write(table, tmp_path / "mixed.csv"))
    assert re.search(r"size +│ numeric .*│ 1 cell holds no number", output)
    assert re.search(r"kind +│ categorical", output)


def test_a_column_without_a_value_is_reported_and_left_out(tmp_path):
    table = orders().append_column("nothing", pa.nulls(300, pa.string()))
    output = fit(write(table, tmp_path / "missing.csv"))
    assert re.search(r"nothing +│ constant +│ +300 │ +0 │ all cells are missing", output)
    assert "nothing" not in persistence.load(tmp_path / "missing.model").encoder_.encoders


def test_a_table_may_lose_all_values_of_a_column_later(tmp_path, model):
    table = orders()
    place = table.column_names.index("amount")
    table = table.set_column(place, "amount", pa.nulls(300, pa.float64()))
    run_well("score", model, write(table, tmp_path / "missing.csv"))
    scores = read_scores(tmp_path / "missing.scores.csv")["score"]
    assert len(scores) == 300
    assert np.isfinite(scores).all()


def test_a_detector_that_does_not_allow_missing_values_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(ALTBI, "allow_nan", False)
    missing = write(orders(100), tmp_path / "missing.csv")
    assert "cannot be trained on missing numbers" in refused("fit", missing, "--detector", "altbi")
    whole = pa.table({"a": [0.5, 1.5, 2.5, 3.5] * 20, "b": [1.5, 2.5, 1.0, 0.0] * 20})
    run_well("fit", write(whole, tmp_path / "whole.csv"), "--detector", "altbi")
    missing = write(
        whole.set_column(0, "a", pa.array([None, *[1.5] * 79])), tmp_path / "missing.csv"
    )
    line = refused("score", tmp_path / "whole.model", missing)
    assert "cannot score rows with missing numbers or dates" in line


def test_ten_thousand_columns_are_fitted_scored_and_explained(tmp_path):
    values = np.random.default_rng(0).normal(size=(10_000, 60))
    values[:, 7] += 8.0
    table = pa.table({f"gene {number}": column for number, column in enumerate(values)})
    path = write(table, tmp_path / "genes.parquet")
    output = run_well("fit", path).text
    assert "and 9,900 more columns" in output
    model = tmp_path / "genes.model"
    run_well("score", model, path)
    scores = read_scores(tmp_path / "genes.scores.parquet")["score"]
    assert np.argmax(scores) == 7
    assert "gene " in run_well("explain", model, path, "--row", 7).text


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["fraud", "fine"], "got 'fraud' (100 rows), 'fine' (100 rows)"),
        (["0", "1", "2", "3"], "'2' (50 rows)"),
        (["1", "-1"], "are ambiguous"),
        (["1.0", "-1.0"], "are ambiguous"),
    ],
    ids=["text", "numbers", "scikit-learn", "scikit-learn as decimals"],
)
def test_labels_of_another_convention_are_reported(tmp_path, labels, message):
    table = orders(200).append_column("label", pa.array(labels * (200 // len(labels))))
    path = write(table, tmp_path / "labels.csv")
    line = refused("fit", path, "--label-column", "label")
    assert message in line
    assert "--outlier-label" in line


@pytest.mark.parametrize(
    "spellings",
    [
        ["1", "0", ""],
        ["1.0", "0.0", ""],
        ["yes", "No", ""],
        ["TRUE", "false", "NA"],
        ["outlier", "inlier", "unknown"],
        ["anomaly", "normal", "-1"],
        ["y", "n", "?"],
        ["1", "0", "Pending"],
    ],
    ids=lambda spellings: spellings[0],
)
def test_common_spellings_of_labels_are_understood(tmp_path, spellings):
    labels = [spellings[0 if row < 20 else 1 if row < 120 else 2] for row in range(200)]
    path = write(orders(200).append_column("label", pa.array(labels)), tmp_path / "labels.csv")
    output = fit(path, "--label-column", "label")
    assert "Labels: 20 outliers, 100 inliers, 80 unlabelled." in output


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.bool_()], ids=str)
def test_labels_may_be_numbers_or_booleans(tmp_path, kind):
    labels = pa.array([row < 20 for row in range(200)]).cast(kind)
    path = write(orders(200).append_column("label", labels), tmp_path / "labels.parquet")
    output = fit(path, "--label-column", "label")
    assert "Labels: 20 outliers, 180 inliers, 0 unlabelled." in output
