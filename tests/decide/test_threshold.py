"""The choice of the decision threshold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imboost.decide import Decision
from imboost.decide.threshold import (
    contamination_without_outliers,
    estimate_contamination,
    threshold_by_contamination,
    threshold_by_precision,
    threshold_by_probability,
)


def test_contamination_is_the_fraction_of_rows_in_the_upper_cluster():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(-3, 0.5, 950), rng.normal(2, 0.5, 50)])
    assert estimate_contamination(scores) == pytest.approx(0.05, abs=0.01)


def test_scores_far_below_the_lower_cluster_are_not_in_the_upper_one():
    rng = np.random.default_rng(0)
    low, bulk, high = rng.normal(-4, 0.1, 5), rng.normal(0, 0.2, 900), rng.normal(10, 1.5, 95)
    assert estimate_contamination(np.concatenate([low, bulk, high])) == 0.095


@pytest.mark.parametrize("scores", [np.zeros(50), np.append(np.zeros(10), np.full(40, 5.0))])
def test_in_small_tables_without_a_smaller_upper_cluster_one_row_is_predicted(scores):
    assert estimate_contamination(scores) == 1 / 50


@pytest.mark.parametrize("skew", [0.0, 0.5, 1.0])
def test_without_two_clusters_one_row_in_a_hundred_is_predicted(skew):
    scores = np.random.default_rng(0).normal(size=1500)
    assert estimate_contamination(np.exp(skew * scores) if skew else scores) == 0.01


def test_only_inliers_above_the_threshold_lower_the_contamination():
    scores = np.arange(100.0)
    labels = np.full(100, -1, dtype=np.int8)
    labels[:50] = 0  # far below the threshold
    assert contamination_without_outliers(scores, 0.1, labels) == 0.1
    labels[[90, 95, 99]] = 0
    assert contamination_without_outliers(scores, 0.1, labels) == pytest.approx(0.025)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40), st.floats(0.02, 0.98))
def test_a_threshold_by_probability_separates_the_rows_exactly(scores, minimum):
    scores = np.array(scores)
    probability = (scores - scores.min()) / max(np.ptp(scores), 1e-9)
    threshold = threshold_by_probability(scores, probability, minimum)
    np.testing.assert_array_equal(scores > threshold, probability >= minimum)


def test_a_probability_of_one_half_is_enough():
    scores = np.array([0.2, 0.5, 0.8])
    assert (scores > threshold_by_probability(scores, scores)).tolist() == [False, True, True]


def test_no_row_is_a_predicted_outlier_if_none_is_probable_enough():
    scores = np.array([0.1, 0.2, 0.3])
    assert not (scores > threshold_by_probability(scores, scores)).any()


def test_a_fraction_of_the_rows_lies_above():
    scores = np.arange(100.0)
    assert (scores > threshold_by_contamination(scores, 0.05)).sum() == 5


def test_a_contamination_of_one_predicts_every_row():
    scores = np.array([0.3, 0.1, 0.2])
    assert (scores > threshold_by_contamination(scores, 1.0)).all()


def test_the_larger_of_two_similar_clusters_is_not_outlying():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(-3, 0.3, 550), rng.normal(2, 0.3, 450)])
    assert estimate_contamination(scores) == 0.01


def test_the_lowest_threshold_of_a_precision_counts_labels():
    scores = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    probability = np.array([0.9, 0.9, 0.5, 0.1, 0.1])
    unknown = np.full(5, -1, dtype=np.int8)
    threshold, reached = threshold_by_precision(scores, probability, unknown, 0.75)
    assert 2 < threshold < 3
    assert reached == pytest.approx(2.3 / 3)
    labelled = unknown.copy()
    labelled[1] = 0  # the second row is an inlier after all
    threshold, _ = threshold_by_precision(scores, probability, labelled, 0.75)
    assert 4 < threshold < 5


def test_tied_rows_stay_together():
    scores = np.array([2.0, 1.0, 1.0])
    threshold, reached = threshold_by_precision(
        scores, np.array([1.0, 1.0, 0.0]), np.full(3, -1, dtype=np.int8), 0.9
    )
    assert 1 < threshold < 2
    assert reached == 1


def test_the_highest_precision_is_returned_if_none_suffices():
    scores = np.array([2.0, 1.0])
    _, reached = threshold_by_precision(
        scores, np.array([0.4, 0.1]), np.full(2, -1, dtype=np.int8), 0.9
    )
    assert reached == pytest.approx(0.4)


def pool_scores():
    """Scores of a sample of two clusters, and of rows chosen between them, with their weights."""
    rng = np.random.default_rng(0)
    sampled = np.concatenate([rng.normal(0, 1, 2000), rng.normal(8, 1, 100)])
    chosen = rng.normal(4, 0.1, 1500)
    return np.append(sampled, chosen), np.append(np.full(2100, 500.0), np.ones(1500))


def test_clusters_of_a_pool_are_those_of_its_table():
    scores, weights = pool_scores()
    assert estimate_contamination(scores) == 0.01  # no two clusters among the rows of the pool
    assert estimate_contamination(scores, weights=weights) == pytest.approx(0.047, abs=0.002)


def test_the_upper_cluster_of_a_pool_counts_by_its_weights():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(0, 1, 1000), rng.normal(9, 1, 500)])
    weights = np.repeat([100.0, 10.0], [1000, 500])
    assert estimate_contamination(scores) == 0.01  # the cluster is too large
    found = estimate_contamination(scores, weights=weights)
    assert found == pytest.approx(5000 / 105_000, abs=0.001)


def test_the_smallest_contamination_of_a_pool_is_one_row_of_its_table():
    assert estimate_contamination(np.zeros(50), weights=np.full(50, 100.0)) == 0.01


def test_an_estimated_threshold_of_a_pool_is_chosen_for_its_table():
    scores, weights = pool_scores()
    labels = np.full(len(scores), -1, dtype=np.int8)
    decision = Decision.make(scores, labels, weights=weights)
    assert decision.is_estimated
    assert weights[decision.predictions == 1].sum() / weights.sum() == pytest.approx(
        0.047, abs=0.002
    )


def test_a_rare_cluster_of_a_table_is_found_in_its_pool():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(0, 1, 20_000), rng.normal(12, 1, 2000)])
    weights = np.repeat([999.9, 1.0], [20_000, 2000])
    found = estimate_contamination(scores, weights=weights)
    assert found == pytest.approx(2000 / weights.sum(), rel=0.05)


def test_labelled_inliers_of_a_pool_lower_the_contamination_of_its_table():
    scores, weights = pool_scores()
    labels = np.full(len(scores), -1, dtype=np.int8)
    labels[np.argsort(scores)[-300:-200]] = 0  # rows between the clusters, none in the upper one
    decision = Decision.make(scores, labels, weights=weights)
    assert weights[decision.predictions == 1].sum() / weights.sum() == pytest.approx(
        0.047, abs=0.002
    )


def test_a_contamination_of_less_than_a_row_of_the_table_predicts_no_row():
    scores = np.append(np.zeros(50), np.linspace(8, 9, 4))
    labels, weights = np.full(54, -1, dtype=np.int8), np.append(np.full(50, 10.0), np.ones(4))
    assert Decision.make(scores, labels, weights=weights).predictions.sum() == 4  # 4 of 504 rows
    labels[50:] = 0
    # One in five of these four rows is less than a row.
    assert Decision.make(scores, labels, weights=weights).predictions.sum() == 0
    labels[51:] = -1
    # One in two of the four rows.
    assert Decision.make(scores, labels, weights=weights).predictions.sum() == 2


def test_the_precision_of_a_threshold_counts_rows_by_their_weights():
    scores, probability = np.array([3.0, 2.0, 1.0]), np.array([1.0, 0.4, 0.1])
    unknown, weights = np.full(3, -1, dtype=np.int8), np.array([1.0, 9.0, 1.0])
    assert threshold_by_precision(scores, probability, unknown, 0.6) == (1.5, pytest.approx(0.7))
    found = threshold_by_precision(scores, probability, unknown, 0.6, weights)
    assert found == (2.5, pytest.approx(1.0))
    found = threshold_by_precision(scores, probability, unknown, 0.45, weights)
    assert found == (1.5, pytest.approx(0.46))
