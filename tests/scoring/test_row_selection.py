"""The training rows of a table: all of a small one, a uniform sample of a large one."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from imboost import persistence
from imboost.errors import DataError, UnknownNameError
from imboost.labels import unlabelled
from imboost.scoring import pipeline, row_selection
from imboost.scoring.row_selection import (
    TopRows,
    draw_sample,
    find_rows,
    sample_keys,
    sample_of,
)
from imboost.tables.files import TableFiles
from program_running import orders, run_well, write

N_ROWS = 5000


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(row_selection, "MAX_ROWS", 400)


def write_parquet(path, table, group_rows=700):
    pyarrow.parquet.write_table(table, path, row_group_size=group_rows)
    return TableFiles.find(path)


def numbered(n_rows=N_ROWS, first=0):
    return pa.table({"number": np.arange(first, first + n_rows), "size": np.zeros(n_rows)})


def test_a_small_table_is_returned_as_it_is(tmp_path):
    files = write_parquet(tmp_path / "a.parquet", numbered())
    sample = draw_sample(files)
    assert sample.is_complete
    assert sample.table.equals(files.read())
    assert sample.rows.tolist() == list(range(N_ROWS))


def test_a_table_without_rows_is_returned_as_it_is(tmp_path):
    files = write_parquet(tmp_path / "a.parquet", numbered(0))
    assert draw_sample(files).table.equals(files.read())


@pytest.mark.usefixtures("small_samples")
def test_a_sample_holds_rows_of_the_table_in_its_order(tmp_path):
    sample = draw_sample(write_parquet(tmp_path / "a.parquet", numbered()))
    assert not sample.is_complete
    assert (len(sample.rows), sample.n_rows) == (400, N_ROWS)
    assert (np.diff(sample.rows) > 0).all()
    assert sample.table.column("number").to_pylist() == sample.rows.tolist()


@pytest.mark.usefixtures("small_samples")
def test_every_row_is_drawn_with_the_same_probability(tmp_path):
    files = write_parquet(tmp_path / "a.parquet", numbered(2000))
    counts = np.zeros(2000)
    for seed in range(300):
        counts[draw_sample(files, seed).rows] += 1
    expected = 300 * 400 / 2000
    assert abs(counts[:200].mean() - expected) < 2  # about four standard errors
    assert abs(counts[-200:].mean() - expected) < 2
    assert counts.min() > 25  # 60 are expected, with a standard deviation of 7


@pytest.mark.usefixtures("small_samples")
def test_the_sample_depends_neither_on_files_nor_on_batches(tmp_path):
    whole = write_parquet(tmp_path / "a.parquet", numbered(), group_rows=5000)
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, first in enumerate(range(0, N_ROWS, 1000)):
        write_parquet(folder / f"{number}.parquet", numbered(1000, first), group_rows=300)
    one, other = draw_sample(whole, 3), draw_sample(TableFiles.find(folder), 3)
    assert one.table.equals(other.table)
    assert np.array_equal(one.rows, other.rows)
    assert not np.array_equal(one.rows, draw_sample(whole, 4).rows)


def test_the_sample_of_a_table_is_that_of_the_samples_of_its_parts():
    table, drawn, merged = numbered(), TopRows(300), TopRows(300)
    drawn.add(0, table, sample_keys(table, 0, 5))
    for first in range(0, N_ROWS, 512):
        part = table.slice(first, 512)
        keys = sample_keys(part, first, 5)
        kept = np.flatnonzero(keys >= 0.9)
        merged.add(first + kept, part.take(kept), keys[kept])
    assert sample_of(drawn, N_ROWS).table.equals(sample_of(merged, N_ROWS).table)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("spelling", ["", "?", "-1.0", "unknown", None])
def test_labelled_rows_are_always_in_the_sample(tmp_path, spelling):
    labels = np.full(N_ROWS, spelling, dtype=object)
    labels[::100], labels[50::100] = "Yes", "0.0"
    table = numbered().append_column("label", pa.array(labels.tolist(), pa.string()))
    sample = draw_sample(write_parquet(tmp_path / "a.parquet", table), label_column="label")
    assert len(sample.rows) == 400
    assert set(range(0, N_ROWS, 50)) < set(sample.rows.tolist())


def test_an_unknown_label_column_of_a_large_table_is_named(tmp_path, small_samples):
    files = write_parquet(tmp_path / "a.parquet", numbered())
    with pytest.raises(UnknownNameError, match="Did you mean 'number'"):
        draw_sample(files, label_column="numbre")


@pytest.mark.usefixtures("small_samples")
def test_weights_count_the_rows_of_the_complete_table(tmp_path):
    sample = draw_sample(write_parquet(tmp_path / "a.parquet", numbered()))
    labels = unlabelled(400)
    assert sample.weights(labels).sum() == pytest.approx(N_ROWS)
    labels[:100] = 1
    weights = sample.weights(labels)
    assert (weights[:100] == 1).all()
    assert weights.sum() == pytest.approx(N_ROWS)


@pytest.mark.usefixtures("small_samples")
def test_columns_whose_types_do_not_fit_together_are_refused(tmp_path):
    write_parquet(tmp_path / "a.parquet", pa.table({"size": np.arange(500)}))
    write_parquet(tmp_path / "b.parquet", pa.table({"size": [[1, 2]] * 500}))
    with pytest.raises(DataError, match="size"):
        draw_sample(TableFiles.find(tmp_path))


@pytest.mark.usefixtures("small_samples")
def test_a_model_of_a_large_table_calls_the_given_fraction_of_its_rows(tmp_path):
    table = orders(3000)
    labels = ["outlier" if row < 150 else None for row in range(3000)]
    table = table.append_column("label", pa.array(labels, pa.string()))
    data = write(table, tmp_path / "orders.parquet")
    options = ["--label-column", "label", "--detector", "trees", "--contamination", "0.1"]
    output = run_well("fit", data, *options).text
    assert "a uniform sample of 400 rows" in output
    assert "Read 3,000 rows, trained on 400." in output
    assert "Labels: 150 outliers" in output
    [n_called] = re.findall(
        r"Estimated from the training rows: (\d+) predicted outliers? in 3,000 rows", output
    )
    assert int(n_called) == pytest.approx(300, abs=15)


@pytest.mark.usefixtures("small_samples")
def test_a_model_of_a_large_table_is_distilled_on_its_training_rows(tmp_path, monkeypatch):
    table = orders(3000)
    labels = ["outlier" if row < 30 else "inlier" if row < 60 else None for row in range(3000)]
    data = write(
        table.append_column("label", pa.array(labels, pa.string())), tmp_path / "orders.parquet"
    )
    run_well("fit", data, "--seed", "3", "--label-column", "label")
    monkeypatch.setattr(TableFiles, "read", None)  # it would read the complete table
    command = ("export", tmp_path / "orders.model", "--fast", "--data", data)
    output = run_well(*command, "--label-column", "label").text
    assert "Read 3,000 rows, used 400." in output
    assert "AUC" in output  # it knows the labels, so these are the training rows
    student = persistence.load(tmp_path / "orders.fast.model")
    assert len(student.decision_scores_) == 400


def test_rows_found_by_identifier_have_their_number_in_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(pipeline, "BATCH_ROWS", 4)
    table = pa.table({"id": [f"K{at}" for at in range(9)], "size": range(9)})
    files = write_parquet(tmp_path / "a.parquet", table, group_rows=4)
    found = find_rows(files, "id", ["K7", "row 2", "K0"])
    assert found.numbers == [7, 2, 0]
    assert found.table["size"].to_pylist() == [7, 2, 0]
