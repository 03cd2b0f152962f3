"""Thresholds and probabilities of detectors."""

import numpy as np
import pytest

from conftest import make_quick
from imboost.errors import IMBoostError


@pytest.fixture
def labels(planted):
    return np.where(np.arange(len(planted.y)) % 3, -1, planted.y)


def test_the_share_of_outliers_is_found_without_labels(planted):
    detector = make_quick("stack", contamination="auto").fit(planted.X)
    assert detector.labels_.mean() == pytest.approx(planted.y.mean(), abs=0.08)


def test_answers_that_all_say_inlier_leave_no_row_called(planted):
    detector = make_quick("stack", contamination="auto").fit(planted.X)
    n_called = detector.labels_.sum()
    detector.refine(planted.X, np.zeros(len(planted.y), dtype=int))
    assert n_called > 5
    assert detector.labels_.sum() == 0


def test_with_labels_rows_are_called_that_are_rather_outliers(planted, labels):
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


def test_a_threshold_for_a_precision_has_it(planted, labels):
    detector = make_quick("stack").fit(planted.X, labels).set_threshold(precision=0.9)
    called = detector.labels_ == 1
    assert planted.y[called].mean() >= 0.85
    more = make_quick("stack").fit(planted.X, labels).set_threshold(precision=0.5)
    assert more.labels_.sum() > called.sum()


def test_a_precision_out_of_reach_is_an_error_that_says_what_is_not(planted):
    detector = make_quick("stack").fit(planted.X)
    with pytest.raises(
        IMBoostError, match="No threshold has an expected precision of 1; the highest"
    ):
        detector.set_threshold(precision=1.0)


@pytest.mark.parametrize("wishes", [{}, {"score": 1.0, "contamination": 0.1}])
def test_one_wish_sets_a_threshold(planted, wishes):
    detector = make_quick("stack").fit(planted.X)
    with pytest.raises(IMBoostError, match="takes one of score, contamination and precision"):
        detector.set_threshold(**wishes)


def test_any_detector_has_probabilities_that_grow_with_the_score(quick_detector, planted, labels):
    detector = quick_detector.fit(planted.X, labels)
    order = np.argsort(detector.decision_function(planted.X), kind="stable")
    proba = detector.predict_proba(planted.X)[order, 1]
    assert (np.diff(proba) >= 0).all()


def test_contamination_is_a_share_or_auto(planted):
    with pytest.raises(IMBoostError, match="must be a number or 'auto'"):
        make_quick("stack", contamination="some").fit(planted.X)
