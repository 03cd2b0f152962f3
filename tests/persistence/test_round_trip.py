"""A loaded detector equals the saved one."""

import json
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
import safetensors.numpy

from conftest import make_quick
from imboost import TableDetector, persistence
from imboost.datasets.orders import mixed_table
from imboost.detectors import DETECTORS
from imboost.errors import IMBoostError, PersistenceError, SettingError
from imboost.persistence.class_registry import CLASSES
from imboost.persistence.saved_model import FORMAT, check_savable

FILES = {"model.json", "arrays.safetensors", "checksums.txt"}
NAMES = sorted(name for name, make in DETECTORS.items() if type(make()).__name__ in CLASSES)

CASES = ["stack", "stack, answered", "imboost", "imboost, answered"]

IN_ANOTHER_PROCESS = """
import pickle, sys
import numpy as np
from imboost import persistence
from imboost.tables.frames import to_arrow
pickle.load = pickle.loads = pickle.Unpickler = None  # so that a call fails
table, *folders = sys.argv[1:]
scores = [persistence.load(folder).decision_function(to_arrow(table)) for folder in folders]
np.save(f"{table}.npy", scores)
"""


@pytest.fixture(scope="module")
def orders():
    return mixed_table(300, contamination=0.06, seed=3)


@pytest.fixture(scope="module")
def answers(orders):
    return np.where(np.arange(300) < 100, orders.y, -1)


@pytest.fixture(scope="module")
def saved(orders, answers, tmp_path_factory):
    """Trained table detectors and their model folders, with answers and without."""
    folder = tmp_path_factory.mktemp("models")
    saved = {}
    for name in CASES:
        detector = TableDetector(make_quick(name.split(",")[0]), contamination=0.06)
        detector.fit(orders.table, answers if "answered" in name else None)
        persistence.save(detector, folder / name)
        saved[name] = (detector, folder / name)
    return saved


def assert_same(loaded, saved, rows):
    assert type(loaded) is type(saved)
    np.testing.assert_array_equal(loaded.decision_function(rows), saved.decision_function(rows))
    np.testing.assert_array_equal(loaded.predict(rows), saved.predict(rows))
    np.testing.assert_array_equal(loaded.predict_proba(rows), saved.predict_proba(rows))
    for name in ("decision_scores_", "query_scores_", "labels_", "threshold_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(saved, name))


@pytest.mark.parametrize("case", CASES)
def test_a_loaded_table_detector_equals_the_saved_one(case, saved, orders):
    fitted, folder = saved[case]
    loaded = persistence.load(folder)
    frame = orders.table.to_pandas().head(50)
    frame.loc[0, "region"], frame.loc[1, "amount"], frame.loc[2] = "never seen", 1e12, None
    assert_same(loaded, fitted, frame)
    assert loaded.schema_ == fitted.schema_
    assert repr(loaded) == repr(fitted)


@pytest.mark.parametrize("case", ["stack, answered", "imboost"])
def test_a_loaded_detector_explains_as_before(case, saved, orders):
    fitted, folder = saved[case]
    rows = orders.table.slice(0, 3)
    assert persistence.load(folder).explain(rows) == fitted.explain(rows)


def test_scores_are_the_same_in_another_process(saved, orders, tmp_path):
    table = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(orders.table, table)
    folders = [folder for _, folder in saved.values()]
    subprocess.run([sys.executable, "-c", IN_ANOTHER_PROCESS, table, *folders], check=True)
    for (fitted, _), scores in zip(saved.values(), np.load(f"{table}.npy"), strict=True):
        np.testing.assert_array_equal(scores, fitted.decision_function(orders.table))


@pytest.mark.parametrize("case", ["stack, answered", "imboost, answered"])
def test_a_loaded_detector_can_be_saved_but_not_refined(case, saved, orders, answers, tmp_path):
    _, folder = saved[case]
    loaded = persistence.load(folder)
    persistence.save(loaded, tmp_path / "again")
    first, again = (
        safetensors.numpy.load_file(where / "arrays.safetensors")
        for where in (folder, tmp_path / "again")
    )
    assert first.keys() == again.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])
    with pytest.raises(SettingError, match="lacks the state that further training needs"):
        loaded.refine(orders.table, answers)


def test_a_model_folder_describes_its_training(saved, orders):
    fitted, folder = saved["stack, answered"]
    assert {path.name for path in folder.iterdir()} == FILES
    facts = json.loads((folder / "model.json").read_text())
    assert facts["format"] == FORMAT
    assert facts["saved_at"].startswith("20")
    assert {"imboost", "numpy", "scikit-learn", "torch", "python"} <= facts["versions"].keys()
    assert facts["training"]["detector"] == "Stack"
    assert facts["training"]["rows"] == 300
    assert facts["training"]["labels"] == 100
    assert facts["training"]["threshold"] == fitted.threshold_
    assert list(facts["training"]["roles"]) == orders.table.column_names
    assert facts["training"]["roles"]["shipped"] == "datetime"


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="a tool of GNU")
def test_the_checksums_are_those_of_sha256sum(saved):
    command = ["sha256sum", "--check", "--strict", "checksums.txt"]
    subprocess.run(command, cwd=saved["imboost"][1], check=True)


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_every_detector_that_can_be_saved_keeps_its_scores(name, answered, planted, tmp_path):
    X = pd.DataFrame(planted.X, columns=list("abcde"))
    detector = make_quick(name).fit(X, planted.y if answered else None)
    persistence.save(detector, tmp_path / "model")
    loaded = persistence.load(tmp_path / "model")
    assert_same(loaded, detector, X)
    assert loaded.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(IMBoostError, match="loaded from a saved model"):
        loaded.refine(X, planted.y)


@pytest.mark.parametrize("backbone", ["flow", "diffusion"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_backbones_are_saved_too(planted, tmp_path, dtype, backbone):
    X = planted.X.astype(dtype)
    detector = make_quick("imboost", backbone=backbone, n_members=2).fit(X)
    persistence.save(detector, tmp_path / "model")
    assert_same(persistence.load(tmp_path / "model"), detector, X)


def test_unusual_settings_and_column_names_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"": rng.normal(size=200), "a\n'ü\"": rng.normal(size=200)})
    frame["2"] = rng.choice(["", "nan", "x y", None], 200)
    source = np.random.RandomState(7)
    detector = TableDetector(
        make_quick("stack", n_neighbors=[3, 5]),
        roles={"2": "categorical"},
        scaling="quantile",
        random_state=source,
    ).fit(frame)
    persistence.save(detector, tmp_path / "model")
    loaded = persistence.load(tmp_path / "model")
    assert_same(loaded, detector, frame)
    assert loaded.roles == {"2": "categorical"}
    assert loaded.detector.n_neighbors == [3, 5]
    assert loaded.random_state.randint(1000) == source.randint(1000)


@pytest.mark.parametrize("name", ["aad", "dsad"])
def test_a_detector_that_cannot_be_saved_says_so(name):
    detector = make_quick(name)
    with pytest.raises(SettingError, match="cannot be saved: its model is of another library"):
        check_savable(detector)


def test_a_part_that_cannot_be_saved_is_named(planted, tmp_path):
    detector = make_quick("imboost").fit(planted.X)
    detector.callback_ = print
    with pytest.raises(
        SettingError, match=r"IMBoost cannot be saved: detector\.callback_ is of type"
    ):
        persistence.save(detector, tmp_path / "model")
    assert not any(tmp_path.iterdir())


def test_every_class_of_saved_objects_exists():
    for name, module in CLASSES.items():
        assert getattr(import_module(module), name).__module__ == module


def test_an_unfitted_detector_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        persistence.save(make_quick("stack"), tmp_path / "model")


def test_a_failed_save_keeps_the_previous_model(planted, tmp_path, monkeypatch):
    detector = make_quick("imboost").fit(planted.X)
    persistence.save(detector, tmp_path / "model")
    rename = os.rename

    def fail_once(source, target):
        if Path(target) == tmp_path / "model":
            monkeypatch.setattr(os, "rename", rename)
            raise OSError("disk failure")
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail_once)
    with pytest.raises(OSError, match="disk failure"):
        persistence.save(detector, tmp_path / "model")
    assert_same(persistence.load(tmp_path / "model"), detector, planted.X)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_only_saved_models_and_empty_folders_are_replaced(planted, tmp_path):
    detector = make_quick("imboost").fit(planted.X)
    (tmp_path / "empty").mkdir()
    for name in ("new/model", "empty"):
        persistence.save(detector, tmp_path / name)
        persistence.save(detector, tmp_path / name)
        persistence.load(tmp_path / name)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "precious.txt").write_text("kept")
    (tmp_path / "file").write_text("kept")
    for name in ("notes", "file"):
        with pytest.raises(PersistenceError, match="exists and is not a saved model"):
            persistence.save(detector, tmp_path / name)
    assert (tmp_path / "notes" / "precious.txt").read_text() == "kept"
    assert {path.name for path in tmp_path.iterdir()} == {"new", "empty", "notes", "file"}
