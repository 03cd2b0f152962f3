"""Calibration of log-odds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from imboost.decide import Calibration

NONE = np.zeros(0)


def labelled(n, intercept=0.0, slope=1.0, seed=0):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1, 2, n)
    return log_odds, (rng.random(n) < expit(intercept + slope * log_odds)).astype(np.int8)


def test_without_labels_log_odds_are_used_unchanged():
    calibration = Calibration.fit(NONE, NONE.astype(np.int8), NONE.astype(bool))
    log_odds = np.array([-3.0, 0.0, 2.0])
    np.testing.assert_allclose(calibration.probability(log_odds), expit(log_odds))


def test_many_labels_determine_the_curve():
    log_odds, labels = labelled(20_000, intercept=-1.0, slope=2.0)
    calibration = Calibration.fit(log_odds, labels, np.ones(len(log_odds), dtype=bool))
    np.testing.assert_allclose(
        calibration.probability(log_odds), expit(2 * log_odds - 1), atol=0.03
    )


def test_an_audit_identifies_how_other_rows_differ_from_selected_ones():
    log_odds, labels = labelled(20_000)
    others, other_labels = labelled(2_000, intercept=-1.0, seed=1)
    both = np.concatenate([log_odds, others]), np.concatenate([labels, other_labels])
    is_audit = np.arange(len(both[0])) >= len(log_odds)
    calibration = Calibration.fit(*both, is_audit)
    zero = np.zeros(1)
    assert calibration.probability(zero, selected=True)[0] == pytest.approx(0.5, abs=0.03)
    assert calibration.probability(zero)[0] == pytest.approx(expit(-1), abs=0.05)


def test_a_larger_audit_narrows_the_posterior_of_other_rows():
    log_odds, labels = labelled(400)
    spreads = []
    for n_audit in (0, 20, 200):
        calibration = Calibration.fit(log_odds, labels, np.arange(400) < n_audit)
        rng = np.random.default_rng(0)
        spreads.append(calibration.sample_probabilities(np.zeros(1), 2000, rng).std())
    assert spreads[0] > spreads[1] > spreads[2] > 0


def test_outliers_alone_change_nothing_unless_drawn_at_random():
    log_odds, labels = np.linspace(-3, 0, 20), np.ones(20, dtype=np.int8)
    chosen = Calibration.fit(log_odds, labels, np.zeros(20, dtype=bool))
    at_random = Calibration.fit(log_odds, labels, np.ones(20, dtype=bool))
    np.testing.assert_allclose(chosen.probability(log_odds), expit(log_odds))
    assert (at_random.probability(log_odds) > expit(log_odds) + 0.02).all()


def test_probability_increases_with_log_odds_in_every_draw():
    calibration = Calibration(np.array([0.0, 0.3, 0.0]), np.diag([0.0, 4.0, 0.0]))
    rng = np.random.default_rng(0)
    draws = calibration.sample_probabilities(np.linspace(-6, 6, 20), 200, rng)
    assert (np.diff(draws, axis=1) > 0).all()


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.booleans()), min_size=0, max_size=30),
)
def test_probability_increases_with_log_odds(labels):
    log_odds = np.array([value for value, _ in labels])
    labels = np.array([int(is_outlier) for _, is_outlier in labels], dtype=np.int8)
    calibration = Calibration.fit(log_odds, labels, np.zeros(len(log_odds), dtype=bool))
    likely = calibration.probability(np.linspace(-6, 6, 20))
    assert (np.diff(likely) > 0).all()


def test_in_sample_log_odds_leave_wide_intervals():
    rng = np.random.default_rng(0)
    log_odds = np.repeat([-4.0, 4.0], 50)
    labels, is_audit = (log_odds > 0).astype(np.int8), np.ones(100, dtype=bool)
    spreads = [
        np.ptp(
            np.quantile(
                Calibration.fit(
                    log_odds, labels, is_audit, out_of_fold=out_of_fold
                ).sample_probabilities(np.array([2.0]), 2000, rng),
                (0.05, 0.95),
            )
        )
        for out_of_fold in (True, False)
    ]
    assert spreads[0] < 0.3 < 0.8 < spreads[1]
