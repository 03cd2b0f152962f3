import numpy as np
import pytest

from imboost.checks import check_query_strategy
from imboost.errors import UnknownNameError
from imboost.mixture import fit_two_gaussians
from imboost.query import STRATEGIES, ConfidencePoles, MixtureBoundary, make_strategy

RNG = np.random.default_rng


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_registered_strategy_keeps_the_contract(name):
    check_query_strategy(STRATEGIES[name])


class Repeats:
    def select(self, scores, candidates, n, rng):
        return np.repeat(candidates[:1], min(n, len(candidates)))


class Greedy:
    def select(self, scores, candidates, n, rng):
        return np.argsort(-scores)[: min(n, len(candidates))]


class Moody:
    def select(self, scores, candidates, n, rng):
        return np.random.default_rng().permutation(candidates)[:n]


@pytest.mark.parametrize(
    ("broken", "message"),
    [(Repeats, "twice"), (Greedy, "not a candidate"), (Moody, "other rows")],
)
def test_the_contract_suite_tells_a_broken_strategy(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_query_strategy(broken)


def test_poles_give_an_odd_row_to_the_highest_scores():
    chosen = ConfidencePoles().select(np.arange(10.0), np.arange(10), 3, RNG(0))
    assert chosen.tolist() == [0, 9, 8]


def test_the_mixture_boundary_lies_between_the_clusters():
    scores = np.concatenate([RNG(0).normal(0, 1, 500), RNG(1).normal(10, 1, 100)])
    scores = np.concatenate([scores, np.linspace(3, 7, 41)])
    chosen = MixtureBoundary().select(scores, np.arange(len(scores)), 5, RNG(2))
    assert (scores[chosen] > 3).all()
    assert (scores[chosen] < 7).all()


def test_alpha_moves_the_boundary_towards_the_inliers():
    scores = np.concatenate([RNG(0).normal(0, 1, 4000), RNG(1).normal(4, 1, 1000)])
    everyone = np.arange(len(scores))
    high = MixtureBoundary(alpha=0.1).select(scores, everyone, 50, RNG(2))
    low = MixtureBoundary(alpha=0.9).select(scores, everyone, 50, RNG(2))
    assert scores[low].mean() < scores[high].mean()


def test_the_posterior_is_that_of_the_smaller_mean():
    scores = np.concatenate([RNG(0).normal(0, 1, 900), RNG(1).normal(20, 3, 100)])
    mixture = fit_two_gaussians(scores, RNG(2))
    assert mixture is not None
    assert mixture.means == pytest.approx([0, 20], abs=1)
    assert mixture.weights == pytest.approx([0.9, 0.1], abs=0.02)
    posterior = mixture.inlier_posterior(np.array([-1.0, 9.0, 25.0, 1e100, -1e100]))
    assert posterior[0] > 0.99
    assert posterior[2] < 0.01
    assert ((posterior >= 0) & (posterior <= 1)).all()


def test_a_large_table_is_fitted_on_a_part_of_it():
    scores = np.concatenate([RNG(0).normal(0, 1, 180_000), RNG(1).normal(20, 3, 20_000)])
    mixture = fit_two_gaussians(scores, RNG(2))
    assert mixture is not None
    assert mixture.weights == pytest.approx([0.9, 0.1], abs=0.01)


def test_equal_scores_hold_no_two_clusters():
    assert fit_two_gaussians(np.full(50, 2.0), RNG(0)) is None


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'mm'"):
        make_strategy("mmm")
