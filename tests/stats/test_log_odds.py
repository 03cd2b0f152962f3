"""Scores as log-odds."""

import numpy as np
import pytest

from imboost.decide import odds_by_rank, odds_of_probability


def test_probabilities_become_log_odds_that_are_never_endless():
    odds = odds_of_probability(np.array([0.0, 0.5, 0.9, 1.0]))
    assert odds[1] == 0
    assert odds[2] == pytest.approx(np.log(9))
    assert odds[[0, 3]] == pytest.approx([-np.log(199), np.log(199)])


def test_ranks_grow_with_scores_and_new_scores_find_their_place_among_old_ones():
    training = np.random.default_rng(0).lognormal(size=501)
    odds = odds_by_rank(np.array([-1.0, np.median(training), training.max(), 1e9]), training)
    assert (np.diff(odds) > 0).all()
    assert odds[1] == pytest.approx(-3)  # a middling row


def test_about_one_row_in_ten_is_an_outlier_by_rank_alone():
    training = np.arange(2001.0)
    odds = odds_by_rank(training, training)
    assert (1 / (1 + np.exp(-odds))).mean() == pytest.approx(0.1, abs=0.02)


def test_rows_that_score_alike_have_like_odds():
    training = np.array([0.0, 1.0, 1.0, 1.0, 2.0])
    assert np.ptp(odds_by_rank(np.ones(3), training)) == 0
