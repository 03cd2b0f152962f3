"""Detectors by name and by class."""

import numpy as np
import pytest

from conftest import QUICK, make_quick
from imboost import TableDetector
from imboost.detectors import DETECTORS, Stack, make_detector
from imboost.detectors.registry import known_detectors
from imboost.errors import UnknownNameError


def by_class(name, **settings):
    """Make a detector as a user does without the registry."""
    own = {"base_learners": ("in_context",)} if name == "pretrained" else {}
    return type(make_detector(name))(**own, **settings)


@pytest.mark.parametrize("name", DETECTORS)
def test_a_name_makes_the_class_with_its_defaults(name):
    assert make_detector(name).get_params() == by_class(name).get_params()


@pytest.mark.parametrize("name", DETECTORS)
def test_a_detector_made_by_name_scores_as_one_made_by_class(name, planted):
    settings = {**QUICK.get(name, {}), "random_state": 0}
    named, classed = (make(name, **settings).fit(planted.X) for make in (make_detector, by_class))
    np.testing.assert_array_equal(named.decision_scores_, classed.decision_scores_)


@pytest.mark.parametrize("name", DETECTORS)
def test_every_detector_finds_its_threshold_unless_a_contamination_is_given(name):
    assert make_detector(name).contamination == "auto"
    assert TableDetector(name)._new_detector().contamination == "auto"
    assert TableDetector(name, contamination=0.2)._new_detector().contamination == 0.2


@pytest.mark.parametrize("in_table", [False, True])
def test_fit_predict_takes_what_fit_takes(planted, in_table):
    detector = make_quick("stack", contamination=0.1)
    detector = TableDetector(detector) if in_table else detector
    weights = np.linspace(1.0, 9.0, len(planted.X))
    predicted = detector.fit_predict(planted.X, weights=weights)
    np.testing.assert_array_equal(predicted, detector.labels_)
    np.testing.assert_array_equal(predicted, detector.fit(planted.X, weights=weights).labels_)
    assert (predicted != detector.fit(planted.X).labels_).any()


def test_an_unknown_setting_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'n_trees'"):
        make_detector("trees", n_tree=3)


@pytest.fixture
def entry_point(tmp_path, monkeypatch):
    """An installed package that names detectors of scikit-learn, one like a detector of ours."""
    info = tmp_path / "others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    forest = "sklearn.ensemble:IsolationForest"
    (info / "entry_points.txt").write_text(
        f"[imboost.detectors]\niforest = {forest}\nstack = {forest}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


def test_an_entry_point_names_a_detector_of_another_package(entry_point, planted):
    detector = TableDetector("iforest", random_state=0).fit(planted.X)
    assert detector.model_name == "IsolationForest"
    assert make_detector("iforest", n_estimators=7).estimator.n_estimators == 7
    with pytest.raises(UnknownNameError, match="Did you mean 'n_estimators'"):
        make_detector("iforest", n_estimator=7)
    with pytest.raises(UnknownNameError, match="Did you mean 'iforest'"):
        make_detector("iforrest")


def test_an_entry_point_never_replaces_a_detector_of_this_package(entry_point):
    assert isinstance(make_detector("stack"), Stack)
    assert isinstance(known_detectors()["stack"](), Stack)
