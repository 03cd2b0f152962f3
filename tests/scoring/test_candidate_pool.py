"""The candidate pool of a large table: which rows it holds, and what they stand for."""

import numpy as np
import pytest

from imboost import TableDetector
from imboost.errors import SettingError
from imboost.labels import unlabelled
from imboost.scoring import candidate_pool, row_selection
from imboost.scoring.candidate_pool import draw_pool, load_pool, needs_pool, save_pool
from imboost.tables.files import TableFiles
from program_running import orders, write

N_ROWS, N_SAMPLED, N_CHOSEN = 3000, 300, 40


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return TableFiles.find(write(orders(N_ROWS), tmp_path_factory.mktemp("a") / "a.parquet"))


@pytest.fixture(autouse=True)
def small_pools(monkeypatch):
    monkeypatch.setattr(row_selection, "MAX_ROWS", N_SAMPLED)
    monkeypatch.setattr(candidate_pool, "MAX_SESSION_ROWS", 2000)
    monkeypatch.setattr(candidate_pool, "N_HIGHEST", N_CHOSEN)
    monkeypatch.setattr(candidate_pool, "N_DOUBTFUL", N_CHOSEN)


def detector():
    return TableDetector("trees", random_state=0)


def test_a_pool_holds_the_highest_scores_those_near_the_threshold_and_a_sample(files):
    pool = draw_pool(files, detector())
    sample = row_selection.draw_sample(files)
    fitted = detector().fit(sample.table)
    scores = fitted.decision_function(files.read())
    highest = np.argsort(-scores, kind="stable")[:N_CHOSEN]
    doubtful = np.argsort(np.abs(scores - fitted.threshold_), kind="stable")[:N_CHOSEN]
    chosen = set(highest.tolist()) | set(doubtful.tolist())
    assert set(pool.rows[~pool.is_drawn].tolist()) == chosen
    assert set(pool.rows.tolist()) == chosen | set(sample.rows.tolist())
    assert (np.diff(pool.rows) > 0).all()
    assert pool.table.equals(files.read().take(pool.rows))


def test_chosen_and_labelled_rows_stand_for_themselves_and_all_rows_are_counted(files):
    pool = draw_pool(files, detector())
    labels = unlabelled(len(pool.rows))
    assert pool.weights(labels).sum() == pytest.approx(N_ROWS)
    assert (pool.weights(labels)[~pool.is_drawn] == 1).all()
    labelled = np.flatnonzero(pool.is_drawn)[:20]
    labels[labelled] = 0
    weights = pool.weights(labels)
    assert (weights[labelled] == 1).all()
    assert weights.sum() == pytest.approx(N_ROWS)


def test_a_pool_file_is_a_table_and_a_pool(files, tmp_path):
    pool, path = draw_pool(files, detector()), tmp_path / "pool.parquet"
    save_pool(pool, path)
    loaded = load_pool(path)
    assert loaded.table.equals(pool.table)
    assert np.array_equal(loaded.rows, pool.rows)
    assert np.array_equal(loaded.is_drawn, pool.is_drawn)
    assert loaded.n_rows == N_ROWS
    assert TableFiles.find(path).read().equals(pool.table)
    assert load_pool(files.paths[0]) is None


def test_only_large_tables_need_a_pool(files, tmp_path, monkeypatch):
    assert needs_pool(files)
    assert not needs_pool(TableFiles.find(write(orders(2000), tmp_path / "b.parquet")))
    csv = TableFiles.find(write(orders(N_ROWS), tmp_path / "c.csv"))
    assert not needs_pool(csv)  # so few bytes that nobody counts
    monkeypatch.setattr(candidate_pool, "SMALL_BYTES", 1000)
    assert needs_pool(csv)
    monkeypatch.setattr(candidate_pool, "MAX_SESSION_ROWS", N_ROWS)
    assert not needs_pool(csv)
    n_columns = len(files.read().column_names)
    monkeypatch.setattr(candidate_pool, "MAX_SESSION_CELLS", n_columns * N_ROWS)
    assert not needs_pool(csv)
    monkeypatch.setattr(candidate_pool, "MAX_SESSION_CELLS", n_columns * N_ROWS - 1)
    assert needs_pool(csv)


def test_a_detector_of_arrays_is_refused(files):
    with pytest.raises(SettingError, match="TableDetector"):
        draw_pool(files, detector().check_settings())
