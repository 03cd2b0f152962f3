"""Thresholds and probabilities of detectors."""

import numpy as np
import pytest

from conftest import make_quick
from imboost.errors import IMBoostError


@pytest.fixture
def labels(planted):
    return np.where(np.arange(len(planted.y)) % 3, -1, planted.y)


def test_contamination_is_estimated_without_labels(planted):
    detector = make_quick("stack", contamination="auto").fit(planted.X)
    assert detector.labels_.mean() == pytest.approx(planted.y.mean(), abs=0.08)


def test_labels_of_inliers_only_leave_no_predicted_outlier(planted):
    detector = make_quick("stack", contamination="auto").fit(planted.X)
    n_outliers = detector.labels_.sum()
    detector.refine(planted.X, np.zeros(len(planted.y), dtype=int))
    assert n_outliers == 3  # one row in a hundred
    assert detector.labels_.sum() == 0


def test_with_labels_of_both_classes_the_threshold_is_a_probability_of_one_half(planted, labels):
    detector = make_quick("stack", contamination="auto").fit(planted.X, labels)
    proba = detector.predict_proba(planted.X)[:, 1]
    np.testing.assert_array_equal(detector.predict(planted.X), proba >= 0.5)
    assert (detector.labels_ == planted.y).mean() > 0.95


def test_a_threshold_changes_decisions_and_no_score(planted):
    detector = make_quick("stack").fit(planted.X)
    scores = detector.decision_scores_.copy()
    detector.set_threshold(contamination=0.02)
    assert detector.predict(planted.X).sum() == detector.labels_.sum() == 6
    detector.set_threshold(score=float(scores.max()))
    assert detector.labels_.sum() == 0
    np.testing.assert_array_equal(detector.decision_scores_, scores)


def test_a_threshold_by_precision_reaches_it(planted, labels):
    detector = make_quick("stack").fit(planted.X, labels).set_threshold(precision=0.9)
    predicted = detector.labels_ == 1
    assert planted.y[predicted].mean() >= 0.85
    more = make_quick("stack").fit(planted.X, labels).set_threshold(precision=0.5)
    assert more.labels_.sum() > predicted.sum()


def test_a_threshold_by_precision_is_that_of_the_table_the_rows_were_sampled_from(planted, labels):
    detector = make_quick("stack").fit(planted.X, labels).set_threshold(precision=0.6)
    alone = detector.threshold_
    is_likely = detector.predict_proba(planted.X)[:, 1] > 0.5
    weights = np.where(is_likely | (labels >= 0), 1.0, 1000.0)
    detector.refine(planted.X, labels, weights=weights)
    assert detector.set_threshold(precision=0.6).threshold_ > alone


def test_a_precision_out_of_reach_is_an_error_with_the_highest_one(planted):
    detector = make_quick("stack").fit(planted.X)
    with pytest.raises(
        IMBoostError, match="No threshold has an expected precision of 1; the highest"
    ):
        detector.set_threshold(precision=1.0)


@pytest.mark.parametrize("arguments", [{}, {"score": 1.0, "contamination": 0.1}])
def test_a_threshold_takes_exactly_one_argument(planted, arguments):
    detector = make_quick("stack").fit(planted.X)
    with pytest.raises(IMBoostError, match="takes one of score, contamination and precision"):
        detector.set_threshold(**arguments)


def test_the_probabilities_of_any_detector_increase_with_the_score(
    quick_detector, planted, labels
):
    detector = quick_detector.fit(planted.X, labels)
    order = np.argsort(detector.decision_function(planted.X), kind="stable")
    proba = detector.predict_proba(planted.X)[order, 1]
    assert (np.diff(proba) >= 0).all()


def test_contamination_is_a_number_or_auto(planted):
    with pytest.raises(IMBoostError, match="must be a number or 'auto'"):
        make_quick("stack", contamination="some").fit(planted.X)


@pytest.mark.parametrize("name", ["stack", "trees"])
def test_a_threshold_is_estimated_until_both_classes_are_labelled(planted, labels, name):
    detector = make_quick(name, contamination="auto").fit(planted.X)
    assert detector.decision_.is_estimated
    assert not detector.refine(planted.X, labels).decision_.is_estimated
    np.testing.assert_array_equal(detector.decision_.labels, labels)
    assert detector.refine(planted.X, np.where(labels == 0, -1, labels)).decision_.is_estimated
