"""The exported graph scores as the detector does."""

import logging
import subprocess
import sys

import numpy as np
import onnxruntime
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_quick
from imboost import TableDetector, persistence
from imboost.datasets.orders import mixed_table
from imboost.errors import MissingPackageError, PersistenceError, SettingError
from imboost.onnx import export_onnx, onnx_inputs
from imboost.onnx.scorer import GenerativeScorer, scale
from imboost.tables.number_scaling import SCALINGS, fit_scaling

EXPORT_IN_ANOTHER_PROCESS = """
import sys
from imboost import persistence
from imboost.onnx import export_onnx
export_onnx(persistence.load(sys.argv[1]), sys.argv[2])
"""
# Not so close to each other that the slope between two quantiles overflows.
NUMBERS = st.floats(-1e6, 1e6).map(lambda number: round(number, 20))


@pytest.fixture(scope="module")
def orders():
    return mixed_table(300, contamination=0.06, seed=4)


@pytest.fixture(scope="module")
def frame(orders):
    """Rows with unseen categories, missing cells and values out of range."""
    frame = orders.table.to_pandas()
    frame.loc[0, "region"], frame.loc[1, "amount"], frame.loc[2] = "never seen", 1e12, None
    frame.loc[3, "age"], frame.loc[4, "tax"] = np.inf, -np.inf
    return frame


def quick(name="imboost", scaling="robust", **settings):
    return TableDetector(make_quick(name, **settings), scaling=scaling)


def run(path, inputs):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    [scores] = session.run(["score"], inputs)
    return scores


def assert_same(path, detector, rows):
    found = run(path, onnx_inputs(detector, rows))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, detector.decision_function(rows), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "scaling"),
    [*(("imboost", scaling) for scaling in SCALINGS), ("altbi", "robust"), ("odim", "log")],
)
def test_a_graph_takes_the_columns_of_a_table(name, scaling, orders, frame, tmp_path):
    y = np.where(np.arange(300) < 100, orders.y, -1)
    detector = quick(name, scaling, n_members=2).fit(orders.table, y)
    export_onnx(detector, tmp_path / "model.onnx")
    assert_same(tmp_path / "model.onnx", detector, frame)
    assert_same(tmp_path / "model.onnx", detector, frame.head(1))


@pytest.mark.parametrize("scaling", ["auto", "quantile"])
def test_a_distilled_model_takes_the_columns_of_a_table(scaling, orders, frame, tmp_path):
    teacher = TableDetector(make_quick("stack"), scaling=scaling).fit(orders.table)
    student = teacher.distill(orders.table, check=False)
    export_onnx(student, tmp_path / "model.onnx")
    assert_same(tmp_path / "model.onnx", student, frame)
    assert_same(tmp_path / "model.onnx", student, frame.head(1))
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert session.get_modelmeta().custom_metadata_map["model"] == "Distilled(Stack)"


def test_a_distilled_model_takes_categories_alone(tmp_path, caplog):
    table = pa.table({"a": ["x", "y", "z", "x"] * 50, "b": ["u", "v"] * 100})
    student = TableDetector(make_quick("stack")).fit(table).distill(table, check=False)
    export_onnx(student, tmp_path / "model.onnx")
    assert not [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert_same(tmp_path / "model.onnx", student, table)


def test_a_distilled_model_takes_a_matrix(planted, tmp_path):
    student = make_quick("stack").fit(planted.X).distill(planted.X)
    export_onnx(student, tmp_path / "model.onnx")
    X = planted.X.copy()
    X[0], X[1] = 1e9, np.nan
    assert_same(tmp_path / "model.onnx", student, X)


def test_a_model_loaded_and_exported_in_another_process_scores_the_same(orders, frame, tmp_path):
    detector = quick().fit(orders.table)
    persistence.save(detector, tmp_path / "model")
    command = [sys.executable, "-c", EXPORT_IN_ANOTHER_PROCESS]
    subprocess.run([*command, tmp_path / "model", tmp_path / "model.onnx"], check=True)
    assert_same(tmp_path / "model.onnx", detector, frame)


def test_inputs_are_named_after_columns_and_the_threshold_is_in_the_metadata(orders, tmp_path):
    detector = quick().fit(orders.table)
    export_onnx(detector, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    kinds = {entry.name: entry.type for entry in session.get_inputs()}
    assert list(kinds) != orders.table.column_names  # without the identifier
    assert kinds.keys() == set(orders.table.column_names) - {"order_id"}
    assert kinds["amount"] == kinds["ordered"] == "tensor(double)"
    assert kinds["shop"] == "tensor(string)"
    metadata = session.get_modelmeta().custom_metadata_map
    assert float(metadata["threshold"]) == detector.threshold_


@pytest.mark.parametrize("settings", [{}, {"n_members": 3, "logvar_weight": 0.5}])
def test_a_graph_takes_a_matrix_with_missing_values(planted, settings, tmp_path):
    X = planted.X.copy()
    X[::7, 2] = np.nan
    detector = make_quick("imboost", **settings).fit(X)
    export_onnx(detector, tmp_path / "model.onnx")
    X[0], X[1] = 1e9, np.nan
    assert_same(tmp_path / "model.onnx", detector, X)


def test_columns_may_have_any_names_and_roles(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "value 1": rng.choice(["x", "", "ü", None, "(missing)"], 200),
            "rows": rng.choice([True, False, None], 200),
            "a/b:0\n": rng.choice([3, 4, 5], 200),
        }
    )
    roles = {"a/b:0\n": "categorical"}
    detector = TableDetector(make_quick("imboost"), roles=roles).fit(table)
    export_onnx(detector, tmp_path / "model.onnx")
    assert_same(tmp_path / "model.onnx", detector, table)


@given(
    name=st.sampled_from(sorted(SCALINGS)),
    training=st.lists(NUMBERS, min_size=1, max_size=8),
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8),
)
def test_numbers_are_scaled_as_by_the_encoder(name, training, values):
    scaling = fit_scaling(name, np.array(training))
    numbers = np.array([*values, *training])
    found = scale([scaling], torch.from_numpy(numbers)[:, None])[:, 0].numpy()
    np.testing.assert_allclose(found, scaling.transform(numbers), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("detector", "message"),
    [
        (make_quick("stack"), "Stack cannot be exported to ONNX: .* Distill it first"),
        (make_quick("trees"), "Trees cannot be exported to ONNX: only IMBoost, ALTBI, ODIM and"),
        (make_quick("imboost", backbone="flow"), "IMBoost .*: its backbone is 'flow'"),
        (make_quick("imboost", backbone="diffusion"), "IMBoost .*: its backbone is 'diffusion'"),
    ],
)
def test_detectors_that_cannot_be_exported_say_why(planted, detector, message, tmp_path):
    with pytest.raises(SettingError, match=message):
        export_onnx(detector.fit(planted.X), tmp_path / "model.onnx")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["", "score"])
def test_columns_that_cannot_be_inputs_are_named(planted, name, tmp_path):
    table = pa.table({"a": planted.X[:, 0], name: planted.X[:, 1]})
    detector = quick().fit(table)
    with pytest.raises(SettingError, match=f"A column called '{name}' cannot be exported"):
        export_onnx(detector, tmp_path / "model.onnx")


def test_a_graph_that_scores_differently_is_not_written(planted, monkeypatch, tmp_path):
    detector = make_quick("imboost").fit(planted.X)
    forward = GenerativeScorer.forward

    def too_high(self, blocks, categories):
        return forward(self, blocks, categories) * 1.01

    monkeypatch.setattr(GenerativeScorer, "forward", too_high)
    with pytest.raises(
        PersistenceError, match=r"graph of IMBoost does not score .* was not written"
    ):
        export_onnx(detector, tmp_path / "model.onnx")
    assert not any(tmp_path.iterdir())


def test_missing_packages_are_named(planted, monkeypatch, tmp_path):
    detector = make_quick("imboost").fit(planted.X)
    monkeypatch.setattr("imboost.errors.find_spec", lambda name: None)
    message = "needs onnx and onnxruntime and onnxscript: pip install 'imboost.export.'"
    with pytest.raises(MissingPackageError, match=message):
        export_onnx(detector, tmp_path / "model.onnx")


def test_an_unfitted_detector_cannot_be_exported(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        export_onnx(quick(), tmp_path / "model.onnx")
