"""Tail probabilities of scores."""

import numpy as np
import pytest

from imboost.stats.tails import TailScore

RNG = np.random.default_rng(0)


def test_within_the_training_scores_it_is_the_log_of_the_fraction_above():
    scores = RNG.normal(size=1000)
    tail = TailScore.fit(scores, is_unbounded=True)
    for value in (-1.0, 0.0, 1.0, 1.8):
        fraction = (scores >= value).mean()
        assert tail(np.array([value]))[0] == pytest.approx(-np.log(fraction), abs=0.05)


def test_beyond_them_an_exponential_tail_is_continued():
    scores = RNG.exponential(2.0, size=20_000)  # its tail is known: exp(-x / 2)
    tail = TailScore.fit(scores, is_unbounded=True)
    values = np.array([8.0, 20.0, 60.0])
    np.testing.assert_allclose(tail(values), values / 2, rtol=0.1)


def test_a_few_errors_hardly_change_the_tail():
    scores = RNG.exponential(2.0, size=20_000)
    clean = TailScore.fit(scores, is_unbounded=True)
    scores[:100] = 500.0
    dirty = TailScore.fit(scores, is_unbounded=True)
    assert dirty(np.array([30.0]))[0] == pytest.approx(clean(np.array([30.0]))[0], rel=0.15)


def test_without_a_tail_it_ends_at_the_log_of_the_number_of_scores():
    tail = TailScore.fit(np.arange(50.0), is_unbounded=False)
    np.testing.assert_allclose(tail(np.array([49.0, 1e9])), np.log(50))


def test_it_increases_with_the_score():
    tail = TailScore.fit(np.round(RNG.normal(size=3000), 1), is_unbounded=True)
    assert (np.diff(tail(np.linspace(-5, 20, 999))) >= 0).all()


@pytest.mark.parametrize("scores", [[], [1.0], [2.0, 2.0, 2.0]])
def test_few_or_equal_scores_are_no_error(scores):
    tail = TailScore.fit(np.array(scores), is_unbounded=True)
    assert np.isfinite(tail(np.array([0.0, 1.0, 5.0]))).all()
