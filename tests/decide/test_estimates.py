"""Intervals for what a decision is worth."""

import numpy as np
from scipy.special import expit

from imboost.decide import Calibration, Estimate, estimate_outcome


def table(n, seed):
    """Rows of known odds, half of a hundred answered ones drawn at random."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-2, 2, n)
    truth = rng.random(n) < expit(odds)
    labels = np.full(n, -1, dtype=np.int8)
    asked = rng.choice(n, 100, replace=False)
    labels[asked] = truth[asked]
    is_audit = np.zeros(n, dtype=bool)
    is_audit[asked[:50]] = True
    return odds, truth, labels, is_audit


def test_intervals_hold_the_truth_about_nine_times_out_of_ten():
    held = []
    for seed in range(60):
        odds, truth, labels, is_audit = table(2000, seed)
        known = labels >= 0
        calibration = Calibration.fit(odds[known], labels[known], is_audit[known])
        outcome = estimate_outcome(odds, odds, labels, 0.0, calibration)
        above = odds > 0
        unfound = (truth & ~above & ~known).sum()
        held += [
            outcome.precision.low <= truth[above].mean() <= outcome.precision.high,
            outcome.n_unfound.low <= unfound <= outcome.n_unfound.high,
        ]
    assert 0.8 <= np.mean(held) < 1


def test_answered_rows_count_as_they_were_answered():
    odds = np.array([3.0, 2.0, -3.0, -4.0])
    labels = np.array([1, 0, 1, 0], dtype=np.int8)
    calibration = Calibration.fit(np.zeros(0), np.zeros(0, np.int8), np.zeros(0, bool))
    outcome = estimate_outcome(odds, odds, labels, 0.0, calibration)
    assert outcome.precision == Estimate(0.5, 0.5, 0.5)
    assert outcome.n_unfound == Estimate(0.0, 0.0, 0.0)
    assert outcome.share_found == Estimate(1.0, 1.0, 1.0)
    assert (outcome.n_rows, outcome.n_called, outcome.n_known) == (4, 2, 2)


def test_estimates_repeat_exactly():
    odds, _, labels, is_audit = table(500, 0)
    known = labels >= 0
    calibration = Calibration.fit(odds[known], labels[known], is_audit[known])
    first, second = (estimate_outcome(odds, odds, labels, 0.0, calibration) for _ in range(2))
    assert first == second


def test_of_no_rows_above_the_threshold_no_precision_is_known():
    odds, _, labels, is_audit = table(200, 0)
    known = labels >= 0
    calibration = Calibration.fit(odds[known], labels[known], is_audit[known])
    precision = estimate_outcome(odds, odds, labels, odds.max(), calibration).precision
    assert np.isnan(precision.value)
    assert (precision.low, precision.high) == (0.0, 1.0)


def test_where_nothing_is_left_to_find_everything_is_found():
    odds, labels = np.array([-2.0, 1.0]), np.zeros(2, dtype=np.int8)
    calibration = Calibration.fit(odds, labels, np.ones(2, dtype=bool))
    assert estimate_outcome(odds, odds, labels, 0.0, calibration).share_found.value == 1
