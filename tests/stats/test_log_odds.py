"""Scores as log-odds."""

import numpy as np
import pytest
from scipy.special import ndtri

from imboost.stats.log_odds import logit, rank_log_odds


def test_probabilities_become_log_odds_that_are_finite():
    log_odds = logit(np.array([0.0, 0.5, 0.9, 1.0]))
    assert log_odds[1] == 0
    assert log_odds[2] == pytest.approx(np.log(9))
    assert log_odds[[0, 3]] == pytest.approx([-np.log(199), np.log(199)])


def test_ranks_grow_with_scores_and_new_scores_are_ranked_among_old_ones():
    training = np.random.default_rng(0).lognormal(size=501)
    log_odds = rank_log_odds(np.array([-1.0, np.median(training), training.max(), 1e9]), training)
    assert (np.diff(log_odds) > 0).all()
    assert log_odds[1] == pytest.approx(-3)  # the median row


def test_about_one_row_in_ten_is_an_outlier_by_rank_alone():
    training = np.arange(2001.0)
    log_odds = rank_log_odds(training, training)
    assert (1 / (1 + np.exp(-log_odds))).mean() == pytest.approx(0.1, abs=0.02)


def test_equal_scores_have_equal_log_odds():
    training = np.array([0.0, 1.0, 1.0, 1.0, 2.0])
    assert np.ptp(rank_log_odds(np.ones(3), training)) == 0


def test_ranks_stay_half_a_row_away_from_0_and_1():
    training = np.arange(4.0)
    log_odds = rank_log_odds(np.array([-9.0, 0.0, 9.0]), training)
    np.testing.assert_allclose(log_odds, -3 + 1.5 * ndtri([0.1, 0.2, 0.9]))
