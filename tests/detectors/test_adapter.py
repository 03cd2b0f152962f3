"""Detectors of PyOD and scikit-learn score through the adapter as they do themselves."""

import numpy as np
import pandas as pd
import pytest
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.xgbod import XGBOD
from sklearn.base import clone
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from imboost import Session, TableDetector, persistence
from imboost.detectors import AdaptedDetector, Stack, as_detector
from imboost.errors import SettingError

SKLEARN = [
    IsolationForest(random_state=0),
    LocalOutlierFactor(novelty=True),
    OneClassSVM(),
    EllipticEnvelope(random_state=0),
]
PYOD = [IForest(random_state=0), KNN()]


@pytest.fixture
def rows():
    rows = np.random.default_rng(0).normal(size=(200, 4))
    rows[:4] += 6
    return rows


@pytest.mark.parametrize("estimator", SKLEARN, ids=repr)
def test_the_scores_of_scikit_learn_are_negated(estimator, rows):
    found = as_detector(estimator).fit(rows).decision_function(rows)
    np.testing.assert_array_equal(found, -clone(estimator).fit(rows).decision_function(rows))
    assert set(np.argsort(-found)[:4]) == {0, 1, 2, 3}


@pytest.mark.parametrize("estimator", PYOD, ids=lambda one: type(one).__name__)
def test_the_scores_of_pyod_are_kept(estimator, rows):
    detector, alone = as_detector(estimator).fit(rows), clone(estimator).fit(rows)
    np.testing.assert_array_equal(detector.decision_function(rows), alone.decision_function(rows))
    np.testing.assert_array_equal(detector.decision_scores_, alone.decision_scores_)
    assert not hasattr(estimator, "decision_scores_")  # a clone was fitted


def test_missing_values_are_replaced_by_the_median(rows):
    median = np.median(rows[1:, 2])
    filled, holes = rows.copy(), rows.copy()
    filled[0, 2], holes[0, 2] = median, np.nan
    first, second = (as_detector(IsolationForest(random_state=0)).fit(X) for X in (filled, holes))
    np.testing.assert_array_equal(first.decision_scores_, second.decision_scores_)


def test_the_random_state_is_passed_on_where_the_estimator_has_none(rows):
    def scores(estimator):
        detector = AdaptedDetector(estimator=estimator, random_state=3)
        return detector.fit(rows).decision_scores_

    np.testing.assert_array_equal(scores(IsolationForest()), scores(IsolationForest()))
    own = as_detector(IsolationForest(random_state=5)).fit(rows).decision_scores_
    np.testing.assert_array_equal(scores(IsolationForest(random_state=5)), own)


def test_a_detector_of_the_package_is_not_adapted():
    stack = Stack()
    assert as_detector(stack) is stack


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LocalOutlierFactor(), "LocalOutlierFactor is not a detector .*: give novelty=True"),
        (StandardScaler(), "StandardScaler is not a detector that scores new rows"),
        (LogisticRegression(), "LogisticRegression cannot be fitted without labels: use stack"),
        (XGBOD(), "XGBOD cannot be fitted without labels: use stack"),
        ("stak", "str is not a detector"),
    ],
)
def test_other_objects_are_refused_in_one_line(estimator, message, rows):
    with pytest.raises(SettingError, match=message):
        as_detector(estimator).fit(rows)


def test_labels_are_refused_in_one_line(rows):
    labels = np.where(np.arange(200) < 10, 0, -1)
    with pytest.raises(SettingError, match="IForest cannot learn from labels: fit it without"):
        as_detector(IForest()).fit(rows, labels)
    detector = as_detector(IForest()).fit(rows)
    with pytest.raises(SettingError, match="IForest cannot learn from labels"):
        detector.refine(rows, labels)


@pytest.mark.parametrize("estimator", [IForest(random_state=0), IsolationForest(random_state=0)])
def test_a_session_asks_and_keeps_answers_but_does_not_train(estimator, rows):
    session = Session(estimator, rows, query="hc", random_state=0)
    asked = session.ask(4)
    assert set(asked) == {0, 1, 2, 3}
    session.tell(asked, ["outlier"] * 4)
    assert session.detector.model_name == type(estimator).__name__
    with pytest.raises(SettingError, match="cannot learn from labels"):
        session.refine()


def test_a_table_detector_encodes_the_table_for_it(rows, tmp_path):
    frame = pd.DataFrame(rows, columns=list("abcd")).assign(kind=["x", "y"] * 100)
    frame.loc[5, "a"] = None
    detector = TableDetector(IsolationForest(random_state=0), contamination=0.02).fit(frame)
    assert set(np.flatnonzero(detector.predict(frame))) == {0, 1, 2, 3}
    assert detector.model_name == "IsolationForest"
    message = "IsolationForest cannot be saved: its model is of another library"
    with pytest.raises(SettingError, match=message):
        persistence.save(detector, tmp_path / "model")
    with pytest.raises(SettingError, match=message):
        persistence.save(detector.detector_, tmp_path / "model")
    assert not any(tmp_path.iterdir())
