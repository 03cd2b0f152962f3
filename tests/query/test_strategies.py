import numpy as np
import pytest

from imboost.checks import check_query_strategy
from imboost.errors import IMBoostError, UnknownNameError
from imboost.query import (
    STRATEGIES,
    AdaptiveBoundary,
    AdaptiveStrategy,
    ConfidencePoles,
    DecisionBoundary,
    EmbeddingStrategy,
    HighestScores,
    Mix,
    MixtureBoundary,
    Spread,
    make_strategy,
)
from imboost.query.spread import _subsample
from imboost.stats.mixture import fit_two_gaussians

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


class Irreproducible:
    def select(self, scores, candidates, n, rng):
        return np.random.default_rng().permutation(candidates)[:n]


@pytest.mark.parametrize(
    ("broken", "message"),
    [(Repeats, "twice"), (Greedy, "not a candidate"), (Irreproducible, "different rows")],
)
def test_the_checks_reject_a_broken_strategy(broken, message):
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


def test_highest_scores_are_sorted_and_ties_ordered_by_row():
    scores = np.array([1.0, 5.0, 5.0, 2.0, 9.0])
    chosen = HighestScores().select(scores, np.array([0, 1, 2, 3]), 3, RNG(0))
    assert chosen.tolist() == [1, 2, 3]


def test_the_decision_boundary_is_the_quantile_of_its_fraction():
    scores = np.arange(101.0)
    chosen = DecisionBoundary(outside=0.1).select(scores, np.arange(101), 3, RNG(0))
    assert chosen.tolist() == [90, 89, 91]


def test_the_boundary_is_that_of_all_rows_not_of_the_candidates():
    scores = np.arange(101.0)
    chosen = DecisionBoundary(outside=0.1).select(scores, np.arange(50), 2, RNG(0))
    assert chosen.tolist() == [49, 48]


def test_mix_takes_uncertain_rows_from_the_middle_of_the_range_not_at_the_median():
    scores = np.arange(11.0) ** 2
    chosen = Mix().select(scores, np.arange(11), 3, RNG(0))
    assert chosen[:2].tolist() == [10, 7]  # 49 is nearest to 50, the median is 25


def test_only_these_strategies_are_adaptive():
    adaptive = {name for name in STRATEGIES if isinstance(make_strategy(name), AdaptiveStrategy)}
    assert adaptive == {"ab", "spread"}


@pytest.mark.parametrize(
    ("labels", "outside"),
    [([1, 1, 1, 1], 0.2), ([0, 0, 0, 0], 0.05), ([0, 1, 1, 0], 0.1), ([], 0.1)],
    ids=["outliers alone", "inliers alone", "even", "no answer"],
)
def test_the_adaptive_boundary_moves_to_where_answers_are_even(labels, outside):
    boundary = AdaptiveBoundary(start=0.1, step=2.0)
    boundary.update(np.array(labels, dtype=np.int8), NO_LABELS)
    assert boundary.outside == pytest.approx(outside)


def test_the_adaptive_boundary_never_leaves_the_table():
    boundary = AdaptiveBoundary()
    for _ in range(50):
        boundary.update(np.ones(3, dtype=np.int8), NO_LABELS)
    assert boundary.outside == 1.0
    assert boundary.select(np.arange(9.0), np.arange(9), 1, RNG(0)).tolist() == [0]


def test_the_adaptive_boundary_finds_the_edge_between_two_classes():
    rng = RNG(0)
    scores = np.sort(rng.normal(size=20_000))
    is_outlier = scores > np.quantile(scores, 0.98)
    boundary, left, shares = AdaptiveBoundary(), np.arange(20_000), []
    for _ in range(12):
        rows = boundary.select(scores, left, 6, rng)
        left = np.setdiff1d(left, rows)
        shares.append(is_outlier[rows].mean())
        boundary.update(is_outlier[rows].astype(np.int8), NO_LABELS)
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


NO_LABELS = np.zeros(0, dtype=np.int8)
LINE = np.concatenate([np.linspace(0, 1, 90), np.linspace(50, 51, 10)])[:, None]
"""Ninety rows at one end and ten at the other."""


def spread_on_line(**settings) -> Spread:
    strategy = Spread(**settings)
    strategy.set_embedding(LINE)
    return strategy


def draws(strategy: Spread, scores, candidates, n=1, repeats=60):
    """Return the rows drawn with as many seeds: (repeats, n)."""
    return np.array([strategy.select(scores, candidates, n, RNG(s)) for s in range(repeats)])


@pytest.mark.parametrize(("exploration", "expected"), [(0.0, 0.88), (0.5, 0.46), (1.0, 0.05)])
def test_spread_prefers_high_scores_until_both_classes_are_known(exploration, expected):
    strategy = Spread(exploration=exploration)
    scores = np.where(np.arange(100) < 5, 1.0, 0.01)
    scores[50] = 0.0
    for _ in range(2):  # before any answer, and after answers of one class
        drawn = draws(strategy, scores, np.arange(100), repeats=400)
        assert np.mean(drawn < 5) == pytest.approx(expected, abs=0.1)
        strategy.update(NO_LABELS, np.array([0, 0], dtype=np.int8))


def test_the_more_inliers_are_found_alone_the_more_the_highest_scores_count():
    strategy = Spread()
    scores = np.where(np.arange(100) < 5, 1.0, 0.3)
    scores[50] = 0.0
    shares = []
    for n_inliers in (0, 10, 40):
        strategy.update(NO_LABELS, np.zeros(n_inliers, dtype=np.int8))
        shares.append(np.mean(draws(strategy, scores, np.arange(100), repeats=400) < 5))
    assert shares[0] < 0.15 < shares[1] < 0.4 < 0.8 < shares[2]


def test_an_answered_row_far_above_all_others_does_not_level_them():
    strategy = Spread()
    strategy.update(NO_LABELS, np.zeros(200, dtype=np.int8))
    scores = np.linspace(0, 1, 100)
    scores[0] = 5.0  # answered
    assert (draws(strategy, scores, np.arange(1, 100)) >= 80).mean() > 0.9


def test_spread_prefers_uncertain_rows_once_both_classes_are_known():
    strategy = Spread()
    strategy.update(NO_LABELS, np.array([0, 1], dtype=np.int8))
    scores = np.concatenate([np.zeros(80), np.full(10, 0.5), np.ones(10)])
    drawn = draws(strategy, scores, np.arange(100))
    assert ((drawn >= 80) & (drawn < 90)).all()


def test_spread_forgets_a_class_whose_only_answer_was_corrected():
    strategy = Spread(exploration=0.0)
    strategy.update(NO_LABELS, np.array([0, 1], dtype=np.int8))
    strategy.update(NO_LABELS, np.array([0, 0], dtype=np.int8))
    scores = np.concatenate([np.zeros(80), np.full(10, 0.5), np.ones(10)])
    assert (draws(strategy, scores, np.arange(100)) >= 90).mean() > 0.5


def test_a_higher_uncertainty_power_keeps_nearer_to_the_middle():
    scores = np.linspace(0, 1, 100)
    distances = {}
    for power in (1.0, 6.0):
        strategy = Spread(uncertainty_power=power)
        strategy.update(NO_LABELS, np.array([0, 1], dtype=np.int8))
        distances[power] = np.abs(scores[draws(strategy, scores, np.arange(100))] - 0.5).mean()
    assert distances[6.0] < distances[1.0] / 1.5


def test_spread_rows_are_drawn_far_from_the_answered_ones():
    unanswered = np.arange(1, 100)  # row 0 was answered
    drawn = draws(spread_on_line(), np.zeros(100), unanswered)
    assert np.mean(drawn >= 90) > 0.8  # a tenth of the rows, nearly all of the distance
    assert len(np.unique(drawn)) > 3  # drawn, not always the farthest


def test_spread_rows_are_far_from_each_other():
    pairs = draws(spread_on_line(), np.zeros(100), np.arange(100), n=2)
    assert np.mean((pairs >= 90).sum(axis=1) == 1) > 0.8


def test_the_first_rows_are_spread_in_many_columns_too():
    table = np.random.default_rng(0).normal(size=(100, 50)) * 0.01
    table[90:] += 1.0
    strategy = Spread()
    strategy.set_embedding(table)
    pairs = draws(strategy, np.zeros(100), np.arange(100), n=2)
    assert np.mean((pairs >= 90).sum(axis=1) == 1) > 0.8


def test_spread_without_an_embedding_draws_by_weight_alone():
    scores = np.concatenate([np.ones(30), np.zeros(70)])
    chosen = Spread(exploration=0.0).select(scores, np.arange(100), 30, RNG(0))
    assert sorted(chosen.tolist()) == list(range(30))


def test_spread_draws_all_of_several_equal_rows():
    strategy = Spread()
    strategy.set_embedding(np.zeros((9, 2)))
    assert sorted(strategy.select(np.zeros(9), np.arange(1, 9), 8, RNG(0))) == list(range(1, 9))


def test_of_a_large_table_the_rows_of_large_weight_are_kept():
    strategy = spread_on_line(max_candidates=20, exploration=0.0)
    scores = np.where(np.arange(100) % 10 == 0, 1.0, 0.0)  # ten rows of large weight
    first = draws(strategy, scores, np.arange(100), n=10)
    assert all(set(range(0, 100, 10)) == set(rows) for rows in first.tolist())


def test_subsampling_keeps_the_expected_weights():
    weights = np.concatenate([np.full(5, 1.0), np.full(95, 0.1)])
    kept = [_subsample(weights, 10, RNG(seed)) for seed in range(2000)]
    assert all(len(rows) == 10 for rows, _ in kept)
    shares = np.zeros(100)
    for rows, counts in kept:
        shares[rows] += counts
    np.testing.assert_allclose(shares / 2000, weights, rtol=0.35)


def test_spread_takes_values_whose_squares_overflow():
    strategy = Spread()
    strategy.set_embedding(np.concatenate([LINE, np.full((1, 1), 1e300)]) * [[1.0, 1e8]])
    assert len(strategy.select(np.zeros(101), np.arange(1, 101), 9, RNG(0))) == 9


def test_spread_takes_scores_whose_range_overflows():
    scores = np.linspace(-1, 1, 100) * 1.7e308
    assert len(spread_on_line().select(scores, np.arange(100), 9, RNG(0))) == 9


def test_spread_draws_after_very_many_inliers():
    strategy = Spread(patience=0.01)
    strategy.update(NO_LABELS, np.zeros(50, dtype=np.int8))
    assert strategy.select(np.zeros(3), np.arange(3), 2, RNG(0)).shape == (2,)


def test_spread_is_adaptive_and_uses_an_embedding():
    assert isinstance(Spread(), EmbeddingStrategy)
    assert isinstance(Spread(), AdaptiveStrategy)
