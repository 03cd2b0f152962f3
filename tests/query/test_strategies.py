import numpy as np
import pytest

from imboost.checks import check_query_strategy
from imboost.errors import IMBoostError, UnknownNameError
from imboost.mixture import fit_two_gaussians
from imboost.query import (
    STRATEGIES,
    AdaptiveBoundary,
    ConfidencePoles,
    DecisionBoundary,
    HighestScores,
    LearningStrategy,
    Mix,
    MixtureBoundary,
    Spread,
    TableStrategy,
    make_strategy,
)

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


def test_highest_scores_come_highest_first_and_ties_by_row():
    scores = np.array([1.0, 5.0, 5.0, 2.0, 9.0])
    chosen = HighestScores().select(scores, np.array([0, 1, 2, 3]), 3, RNG(0))
    assert chosen.tolist() == [1, 2, 3]


def test_the_decision_boundary_leaves_its_share_outside():
    scores = np.arange(101.0)
    chosen = DecisionBoundary(outside=0.1).select(scores, np.arange(101), 3, RNG(0))
    assert chosen.tolist() == [90, 89, 91]


def test_the_boundary_is_that_of_all_rows_not_of_the_candidates():
    scores = np.arange(101.0)
    chosen = DecisionBoundary(outside=0.1).select(scores, np.arange(50), 2, RNG(0))
    assert chosen.tolist() == [49, 48]


def test_only_two_strategies_learn_from_answers():
    learning = {name for name in STRATEGIES if isinstance(make_strategy(name), LearningStrategy)}
    assert learning == {"ab", "spread"}


@pytest.mark.parametrize(
    ("labels", "outside"),
    [([1, 1, 1, 1], 0.2), ([0, 0, 0, 0], 0.05), ([0, 1, 1, 0], 0.1), ([], 0.1)],
    ids=["outliers alone", "inliers alone", "even", "no answer"],
)
def test_the_adaptive_boundary_moves_to_where_answers_are_even(labels, outside):
    boundary = AdaptiveBoundary(start=0.1, step=2.0)
    boundary.observe(np.array(labels, dtype=np.int8))
    assert boundary.outside == pytest.approx(outside)


def test_the_adaptive_boundary_never_leaves_the_table():
    boundary = AdaptiveBoundary()
    for _ in range(50):
        boundary.observe(np.ones(3, dtype=np.int8))
    assert boundary.outside == 1.0
    assert boundary.select(np.arange(9.0), np.arange(9), 1, RNG(0)).tolist() == [0]


def test_the_adaptive_boundary_finds_the_edge_between_two_kinds():
    rng = RNG(0)
    scores = np.sort(rng.normal(size=20_000))
    is_outlier = scores > np.quantile(scores, 0.98)
    boundary, left, shares = AdaptiveBoundary(), np.arange(20_000), []
    for _ in range(12):
        rows = boundary.select(scores, left, 6, rng)
        left = np.setdiff1d(left, rows)
        shares.append(is_outlier[rows].mean())
        boundary.observe(is_outlier[rows].astype(np.int8))
    assert shares[0] == 0
    assert 0 < np.mean(shares[3:]) < 1
    assert 0.01 < boundary.outside < 0.04


def test_a_mix_takes_a_third_of_each_and_no_row_twice():
    scores = np.linspace(0, 1, 101)
    chosen = Mix().select(scores, np.arange(101), 31, RNG(0))
    assert chosen[:10].tolist() == list(range(100, 90, -1))
    assert sorted(chosen[10:20].tolist()) == list(range(45, 55))  # 50 is the middle
    assert len(set(chosen.tolist())) == 31


@pytest.mark.parametrize(
    ("name", "settings", "error"),
    [
        ("mm", {"alhpa": 0.3}, "Unknown setting of mm 'alhpa'. Did you mean 'alpha'"),
        ("rd", {"alpha": 0.3}, "Unknown setting of rd 'alpha'. Known: none"),
        ("db", {"outside": 1.5}, "outside must be .*at most 1"),
        ("ab", {"step": 0.5}, "step must be at least 1"),
        ("ab", {"start": 0.0}, "start must be above 0"),
        ("mm", {"alpha": 2.0}, "alpha must be .*at most 1"),
    ],
)
def test_a_wrong_setting_of_a_strategy_is_named(name, settings, error):
    with pytest.raises(IMBoostError, match=error):
        make_strategy(name, **settings)


LINE = np.concatenate([np.linspace(0, 1, 90), np.linspace(50, 51, 10)])[:, None]
"""Ninety rows at one end and ten at the other."""


def test_spread_asks_the_highest_scores_until_both_kinds_are_known():
    strategy = Spread(top_share=1.0)
    strategy.look_at(LINE)
    scores = np.linspace(0, 1, 100)
    assert strategy.select(scores, np.arange(100), 3, RNG(0)).tolist() == [99, 98, 97]
    strategy.observe(np.array([0, 0], dtype=np.int8))
    assert strategy.select(scores, np.arange(97), 3, RNG(0)).tolist() == [96, 95, 94]


def test_spread_asks_the_doubtful_once_both_kinds_are_known():
    strategy = Spread(doubt_share=1.0)
    strategy.look_at(LINE)
    strategy.observe(np.array([0, 1], dtype=np.int8))
    chosen = strategy.select(np.linspace(0, 1, 101)[:100] / 0.99, np.arange(100), 2, RNG(0))
    assert sorted(chosen.tolist()) == [49, 50]


def test_spread_rows_are_drawn_far_from_the_answered_ones():
    strategy = Spread(top_share=0.0)
    strategy.look_at(LINE)
    unanswered = np.arange(1, 100)  # row 0 was answered
    firsts = [strategy.select(np.zeros(100), unanswered, 1, RNG(seed))[0] for seed in range(50)]
    assert np.mean(np.array(firsts) >= 90) > 0.8  # a tenth of the rows, nearly all of the distance


def test_spread_rows_are_far_from_each_other():
    strategy = Spread(top_share=0.0)
    strategy.look_at(LINE)
    draws = [strategy.select(np.zeros(100), np.arange(90, 100), 1, RNG(s))[0] for s in range(40)]
    pairs = [strategy.select(np.zeros(100), np.arange(100), 2, RNG(s)) for s in range(40)]
    at_both_ends = [len({row >= 90 for row in pair.tolist()}) == 2 for pair in pairs]
    assert np.mean(at_both_ends) > 0.8
    assert len(set(draws)) > 3  # drawn, not always the farthest


def test_spread_without_a_table_draws_at_random():
    chosen = Spread(top_share=0.0).select(np.zeros(100), np.arange(100), 30, RNG(0))
    assert len(set(chosen.tolist())) == 30


def test_spread_draws_from_a_part_of_a_large_table():
    strategy = Spread(top_share=0.0, max_pool=5)
    strategy.look_at(LINE)
    assert len(strategy.select(np.zeros(100), np.arange(1, 100), 20, RNG(0))) == 20
    assert isinstance(strategy, TableStrategy)
    assert isinstance(strategy, LearningStrategy)


def test_spread_takes_values_whose_squares_overflow():
    strategy = Spread(top_share=0.0)
    strategy.look_at(np.concatenate([LINE, np.full((1, 1), 1e300)]) * [[1.0, 1e8]])
    assert len(strategy.select(np.zeros(101), np.arange(1, 101), 9, RNG(0))) == 9
