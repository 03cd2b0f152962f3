"""Where the line is drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imboost.decide import (
    share_by_mixture,
    share_without_outliers,
    threshold_by_precision,
    threshold_by_probability,
    threshold_by_share,
)


def test_a_mixture_tells_the_share_of_a_second_cluster():
    rng = np.random.default_rng(0)
    odds = np.concatenate([rng.normal(-3, 0.5, 950), rng.normal(2, 0.5, 50)])
    assert share_by_mixture(odds) == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("odds", [np.zeros(50), np.append(np.zeros(10), np.full(40, 5.0))])
def test_without_a_smaller_upper_cluster_one_row_in_ten_is_taken(odds):
    assert share_by_mixture(odds) == 0.1


def test_without_two_clusters_rows_far_above_the_median_are_taken():
    rng = np.random.default_rng(0)
    skewed = np.concatenate([rng.normal(size=900), rng.normal(size=100) * 2 + 1])
    assert share_by_mixture(skewed) == pytest.approx((skewed > 3).mean(), abs=0.01)


def test_inliers_in_the_share_make_it_smaller_and_others_do_not():
    scores = np.arange(100.0)
    labels = np.full(100, -1, dtype=np.int8)
    labels[:50] = 0  # far below the share
    assert share_without_outliers(scores, 0.1, labels) == 0.1
    labels[[90, 95, 99]] = 0
    assert share_without_outliers(scores, 0.1, labels) == pytest.approx(0.025)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40), st.floats(0.02, 0.98))
def test_a_threshold_by_probability_parts_the_rows_exactly(scores, least):
    scores = np.array(scores)
    probability = (scores - scores.min()) / max(np.ptp(scores), 1e-9)
    threshold = threshold_by_probability(scores, probability, least)
    np.testing.assert_array_equal(scores > threshold, probability >= least)


def test_when_no_row_is_likely_enough_none_is_called():
    scores = np.array([0.1, 0.2, 0.3])
    assert not (scores > threshold_by_probability(scores, scores)).any()


def test_a_share_of_the_rows_lies_above():
    scores = np.arange(100.0)
    assert (scores > threshold_by_share(scores, 0.05)).sum() == 5


def test_a_share_of_all_is_every_row():
    scores = np.array([0.3, 0.1, 0.2])
    assert (scores > threshold_by_share(scores, 1.0)).all()


def test_two_clusters_of_about_equal_size_are_no_outliers():
    rng = np.random.default_rng(0)
    odds = np.concatenate([rng.normal(-3, 0.3, 550), rng.normal(2, 0.3, 450)])
    assert share_by_mixture(odds) == 0.1


def test_the_lowest_threshold_of_a_precision_counts_answers_as_they_are():
    scores = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    probability = np.array([0.9, 0.9, 0.5, 0.1, 0.1])
    unknown = np.full(5, -1, dtype=np.int8)
    threshold, reached = threshold_by_precision(scores, probability, unknown, 0.75)
    assert 2 < threshold < 3
    assert reached == pytest.approx(2.3 / 3)
    answered = unknown.copy()
    answered[1] = 0  # the second row is an inlier after all
    threshold, _ = threshold_by_precision(scores, probability, answered, 0.75)
    assert 4 < threshold < 5


def test_rows_of_one_score_are_called_together():
    scores = np.array([2.0, 1.0, 1.0])
    threshold, reached = threshold_by_precision(
        scores, np.array([1.0, 1.0, 0.0]), np.full(3, -1, dtype=np.int8), 0.9
    )
    assert 1 < threshold < 2
    assert reached == 1


def test_the_nearest_precision_is_said_where_none_is_enough():
    scores = np.array([2.0, 1.0])
    _, reached = threshold_by_precision(
        scores, np.array([0.4, 0.1]), np.full(2, -1, dtype=np.int8), 0.9
    )
    assert reached == pytest.approx(0.4)
