"""From odds to probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from imboost.decide import Calibration

NONE = np.zeros(0)


def answered(n, intercept=0.0, slope=1.0, seed=0):
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1, 2, n)
    return odds, (rng.random(n) < expit(intercept + slope * odds)).astype(np.int8)


def test_without_answers_odds_are_taken_as_they_are():
    calibration = Calibration.fit(NONE, NONE.astype(np.int8), NONE.astype(bool))
    odds = np.array([-3.0, 0.0, 2.0])
    np.testing.assert_allclose(calibration.probability(odds), expit(odds))


def test_many_answers_say_how_probability_grows():
    odds, answers = answered(20_000, intercept=-1.0, slope=2.0)
    calibration = Calibration.fit(odds, answers, np.ones(len(odds), dtype=bool))
    np.testing.assert_allclose(calibration.probability(odds), expit(2 * odds - 1), atol=0.03)


def test_an_audit_tells_how_others_differ_from_asked_rows():
    odds, answers = answered(20_000)
    others, their_answers = answered(2_000, intercept=-1.0, seed=1)
    everything = np.concatenate([odds, others]), np.concatenate([answers, their_answers])
    is_audit = np.arange(len(everything[0])) >= len(odds)
    calibration = Calibration.fit(*everything, is_audit)
    even = np.zeros(1)
    assert calibration.probability(even, when_asked=True)[0] == pytest.approx(0.5, abs=0.03)
    assert calibration.probability(even)[0] == pytest.approx(expit(-1), abs=0.05)


def test_the_more_is_audited_the_surer_the_curve_of_others():
    odds, answers = answered(400)
    spreads = []
    for n_audit in (0, 20, 200):
        calibration = Calibration.fit(odds, answers, np.arange(400) < n_audit)
        rng = np.random.default_rng(0)
        spreads.append(calibration.drawn_probabilities(np.zeros(1), 2000, rng).std())
    assert spreads[0] > spreads[1] > spreads[2] > 0


def test_outliers_alone_say_nothing_of_how_many_there_are_unless_asked_at_random():
    odds, answers = np.linspace(-3, 0, 20), np.ones(20, dtype=np.int8)
    chosen = Calibration.fit(odds, answers, np.zeros(20, dtype=bool))
    at_random = Calibration.fit(odds, answers, np.ones(20, dtype=bool))
    np.testing.assert_allclose(chosen.probability(odds), expit(odds))
    assert (at_random.probability(odds) > expit(odds) + 0.02).all()


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.booleans()), min_size=0, max_size=30),
)
def test_larger_odds_are_never_less_likely(answers):
    odds = np.array([odd for odd, _ in answers])
    labels = np.array([int(is_outlier) for _, is_outlier in answers], dtype=np.int8)
    calibration = Calibration.fit(odds, labels, np.zeros(len(odds), dtype=bool))
    likely = calibration.probability(np.linspace(-6, 6, 20))
    assert (np.diff(likely) > 0).all()


def test_of_answers_that_a_detector_was_told_little_is_known_of_other_rows():
    rng = np.random.default_rng(0)
    odds = np.repeat([-4.0, 4.0], 50)
    answers, is_audit = (odds > 0).astype(np.int8), np.ones(100, dtype=bool)
    spreads = [
        np.ptp(
            np.quantile(
                Calibration.fit(
                    odds, answers, is_audit, are_held_out=are_held_out
                ).drawn_probabilities(np.array([2.0]), 2000, rng),
                (0.05, 0.95),
            )
        )
        for are_held_out in (True, False)
    ]
    assert spreads[0] < 0.3 < 0.8 < spreads[1]
