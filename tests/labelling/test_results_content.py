"""The scored table, the model and the report of a labelled table."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from answered_orders import label_orders
from imboost import persistence
from imboost.errors import PersistenceError
from imboost.labelling.results import (
    csv_parts,
    parquet_bytes,
    report_page,
    save_model,
    scored_table,
)

NEW = ["row", "score", "rank", "probability", "is_outlier", "answer"]


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    return label_orders(tmp_path_factory.mktemp("orders"))


def test_the_scored_table_has_all_columns_and_what_the_model_says(labelled):
    table = scored_table(labelled)
    assert table.column_names == [*labelled.session.X.column_names, *NEW]
    snapshot = labelled.snapshot
    assert table["score"].to_pylist() == snapshot.scores.tolist()
    assert table["rank"].to_pylist() == snapshot.ranks.tolist()
    predicted = [score > snapshot.threshold for score in snapshot.scores]
    assert table["is_outlier"].to_pylist() == predicted
    answers = ["inlier", "outlier", "inlier", "unsure", "skip", "outlier", None]
    assert table["answer"].to_pylist()[:7] == answers


def test_a_name_that_the_table_has_already_gets_a_suffix(tmp_path):
    labelled = label_orders(tmp_path, extra={"score": ["x"] * 120, "score_": ["y"] * 120})
    table = scored_table(labelled)
    assert set(table["score"].to_pylist()) == {"x"}
    assert table["score__"].to_pylist() == labelled.snapshot.scores.tolist()


def test_csv_and_parquet_hold_the_same_table(labelled):
    table = scored_table(labelled)
    content = b"".join(csv_parts(table))
    from_csv = pa.csv.read_csv(pa.BufferReader(content))
    from_parquet = pa.parquet.read_table(pa.BufferReader(parquet_bytes(table)))
    assert from_parquet.equals(table)
    assert from_csv.column_names == table.column_names
    assert from_csv["score"].to_pylist() == table["score"].to_pylist()


def test_csv_of_several_parts_has_one_header_and_text_as_it_is(monkeypatch):
    monkeypatch.setattr("imboost.labelling.results.CSV_ROWS", 2)
    values = ["=1+1", 'a "quoted", cell', "two\nlines", None, "+x"]
    table = pa.table({"text": values, "time": pa.array([0] * 5, pa.timestamp("s"))})
    parts = list(csv_parts(table))
    assert len(parts) == 3
    convert = pa.csv.ConvertOptions(strings_can_be_null=True)
    parse = pa.csv.ParseOptions(newlines_in_values=True)
    read = pa.csv.read_csv(pa.BufferReader(b"".join(parts)), None, parse, convert)
    assert read["text"].to_pylist() == values
    assert b"".join(parts).count(b"text") == 1


def test_types_that_csv_does_not_know_are_written_as_text():
    kinds = {"dictionary": pa.array(["a", "b"]).dictionary_encode()}
    kinds["duration"] = pa.array([1, 2], pa.duration("s"))
    kinds["decimal"] = pa.array([1, 2], pa.decimal128(5, 2))
    kinds["empty"] = pa.nulls(2)
    lines = b"".join(csv_parts(pa.table(kinds))).decode().splitlines()
    assert lines[1].replace('"', "") == "a,1,1.00,"


def test_an_empty_table_is_a_header():
    assert b"".join(csv_parts(pa.table({"a": pa.array([], pa.int64())}))) == b'"a"\n'


def test_a_saved_model_scores_like_the_page(labelled, tmp_path):
    save_model(labelled, tmp_path / "orders.model")
    save_model(labelled, tmp_path / "orders.model")  # replaces the one it saved
    loaded = persistence.load(tmp_path / "orders.model")
    table = labelled.session.X
    expected = labelled.snapshot.detector.decision_function(table)
    assert loaded.decision_function(table).tolist() == expected.tolist()


def test_a_model_is_not_saved_over_something_else(labelled, tmp_path):
    folder = tmp_path / "orders.model"
    folder.mkdir()
    (folder / "precious.txt").write_text("mine")
    with pytest.raises(PersistenceError, match="is not a saved model"):
        save_model(labelled, folder)
    assert (folder / "precious.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_named(labelled, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PersistenceError, match=r"could not be saved in .*file/orders\.model"):
        save_model(labelled, tmp_path / "file" / "orders.model")


def test_the_report_shows_the_scores_of_the_present_model(labelled):
    page = report_page(labelled, "orders.csv")
    snapshot = labelled.snapshot
    assert f"{snapshot.n_predicted} predicted outliers in 120 rows" in page
    best = int(snapshot.scores.argmax())
    first = page[page.index('<tbody class="row">') :]
    name = labelled.session.X["order_id"][best]
    assert first.index(f'<th scope="row">{name}<small>row {best}</small>') < 100
    assert f">{snapshot.scores[best]:.4g}</td>" in first[:300]
