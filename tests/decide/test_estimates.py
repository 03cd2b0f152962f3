"""Estimated precision and recall, and their intervals."""

import numpy as np
import pytest
from scipy.special import expit

from imboost.decide import Calibration, Estimate, estimate_outcome, estimates


def table(n, seed):
    """Rows with known log-odds, a hundred of them labelled, half of these an audit."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-2, 2, n)
    truth = rng.random(n) < expit(log_odds)
    labels = np.full(n, -1, dtype=np.int8)
    asked = rng.choice(n, 100, replace=False)
    labels[asked] = truth[asked]
    is_audit = np.zeros(n, dtype=bool)
    is_audit[asked[:50]] = True
    return log_odds, truth, labels, is_audit


def test_intervals_cover_the_truth_about_nine_times_out_of_ten():
    covered = []
    for seed in range(60):
        log_odds, truth, labels, is_audit = table(2000, seed)
        known = labels >= 0
        calibration = Calibration.fit(log_odds[known], labels[known], is_audit[known])
        outcome = estimate_outcome(log_odds, log_odds, labels, 0.0, calibration)
        above = log_odds > 0
        missed = (truth & ~above & ~known).sum()
        covered += [
            outcome.precision.low <= truth[above].mean() <= outcome.precision.high,
            outcome.n_missed.low <= missed <= outcome.n_missed.high,
        ]
    assert 0.8 <= np.mean(covered) < 1


def test_labelled_rows_count_by_their_label():
    log_odds = np.array([3.0, 2.0, -3.0, -4.0])
    labels = np.array([1, 0, 1, 0], dtype=np.int8)
    calibration = Calibration.fit(np.zeros(0), np.zeros(0, np.int8), np.zeros(0, bool))
    outcome = estimate_outcome(log_odds, log_odds, labels, 0.0, calibration)
    assert outcome.precision == Estimate(0.5, 0.5, 0.5)
    assert outcome.n_missed == Estimate(0.0, 0.0, 0.0)
    assert outcome.recall == Estimate(1.0, 1.0, 1.0)
    assert (outcome.n_rows, outcome.n_predicted, outcome.n_labelled_outliers) == (4, 2, 2)


def test_estimates_repeat_exactly():
    log_odds, _, labels, is_audit = table(500, 0)
    known = labels >= 0
    calibration = Calibration.fit(log_odds[known], labels[known], is_audit[known])
    first, second = (
        estimate_outcome(log_odds, log_odds, labels, 0.0, calibration) for _ in range(2)
    )
    assert first == second


def test_precision_is_unknown_without_rows_above_the_threshold():
    log_odds, _, labels, is_audit = table(200, 0)
    known = labels >= 0
    calibration = Calibration.fit(log_odds[known], labels[known], is_audit[known])
    precision = estimate_outcome(log_odds, log_odds, labels, log_odds.max(), calibration).precision
    assert np.isnan(precision.value)
    assert (precision.low, precision.high) == (0.0, 1.0)


def test_precision_is_unknown_until_a_row_is_labelled_outlier():
    log_odds, labels = np.array([-2.0, 1.0, 2.0]), np.array([0, -1, 0], dtype=np.int8)
    calibration = Calibration.fit(log_odds[::2], labels[::2], np.ones(2, dtype=bool))

    def precision(labels):
        return estimate_outcome(log_odds, log_odds, labels, 0.0, calibration).precision

    assert np.isnan(precision(labels).value)
    assert 0 < precision(np.array([0, -1, 1], dtype=np.int8)).value < 1
    assert precision(np.zeros(3, dtype=np.int8)).value == 0.0


def test_recall_is_one_if_no_outlier_is_left():
    log_odds, labels = np.array([-2.0, 1.0]), np.zeros(2, dtype=np.int8)
    calibration = Calibration.fit(log_odds, labels, np.ones(2, dtype=bool))
    assert estimate_outcome(log_odds, log_odds, labels, 0.0, calibration).recall.value == 1


def test_labelled_outliers_below_the_threshold_count_as_found():
    log_odds = np.concatenate([np.full(5, -4.0), np.full(100, -1.0)])
    labels = np.full(105, -1, dtype=np.int8)
    labels[:5] = 1  # not above the threshold
    calibration = Calibration(np.array([0.0, 1.0, 0.0]), np.zeros((3, 3)))
    outcome = estimate_outcome(log_odds, log_odds, labels, 0.0, calibration)
    expected = 100 * expit(-1)
    assert outcome.n_missed.value == pytest.approx(expected, rel=0.05)
    assert outcome.recall.value == pytest.approx(5 / (5 + expected), rel=0.05)


def test_few_draws_of_very_many_outliers_leave_the_number_of_missed_ones():
    log_odds, labels = np.full(10_000, -6.0), np.full(10_000, -1, dtype=np.int8)
    uncertain = Calibration(np.array([0.0, 1.0, 0.0]), np.diag([4.0, 0.0, 0.0]))
    missed = estimate_outcome(log_odds, log_odds, labels, 0.0, uncertain).n_missed
    assert missed.value == pytest.approx(10_000 * expit(-6), rel=0.2)  # the mean is six times this
    assert missed.high > 20 * missed.value


def test_rows_on_both_sides_of_the_threshold_follow_the_same_curve():
    scores, labels = np.repeat([1.0, -1.0], 5000), np.full(10_000, -1, dtype=np.int8)
    uncertain = Calibration(np.array([0.0, 1.0, 0.0]), np.diag([4.0, 0.0, 0.0]))
    outcome = estimate_outcome(scores, np.zeros(10_000), labels, 0.0, uncertain)
    assert outcome.n_missed.low < 500 < 4500 < outcome.n_missed.high
    assert 0.4 < outcome.recall.low < outcome.recall.high < 0.6  # half of them in every draw


IDENTITY = Calibration(np.array([0.0, 1.0, 0.0]), np.zeros((3, 3)))  # log-odds are used unchanged


def test_rows_of_a_pool_count_by_their_weights():
    log_odds = np.array([9.0, 8.0, 7.0, 0.0, -1.0, -20.0])
    labels = np.array([1, 0, -1, -1, 1, -1], dtype=np.int8)
    weights = np.array([1.0, 3.0, 200.0, 4000.0, 2.0, 50_000.0])
    outcome = estimate_outcome(log_odds, log_odds, labels, 0.5, IDENTITY, weights=weights)
    assert (outcome.n_rows, outcome.n_predicted) == (54_206, 203)
    assert outcome.n_labelled_outliers == 2
    assert outcome.precision.value == pytest.approx((1 + 200 * expit(7)) / 204, rel=0.01)
    assert outcome.n_missed.value == pytest.approx(2000, rel=0.05)
    assert outcome.recall.value == pytest.approx(203 / 2203, rel=0.05)


def test_rows_of_a_bin_count_by_their_weights(monkeypatch):
    monkeypatch.setattr(estimates, "MAX_BINS", 1)
    log_odds, labels = np.array([-7.0, -1.0]), np.full(2, -1, dtype=np.int8)
    weights = np.array([100_000.0, 1.0])
    outcome = estimate_outcome(log_odds, log_odds, labels, 0.0, IDENTITY, weights=weights)
    assert outcome.n_missed.value == pytest.approx(100_000 * expit(-7), rel=0.1)
