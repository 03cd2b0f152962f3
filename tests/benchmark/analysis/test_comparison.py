import math

import pytest

from imboost.benchmark.analysis.comparison import (
    Ranking,
    alike,
    friedman_p,
    mean_interval,
    nemenyi_difference,
    paired_interval,
    row_ranks,
    win_counts,
)
from imboost.benchmark.analysis.method_tables import method_tables
from result_lines import run_lines


def test_equal_values_share_their_ranks():
    ranks = row_ranks([[0.9, 0.8, 0.9], [0.5, 0.5, 0.5]])
    assert ranks.tolist() == [[1.5, 3.0, 1.5], [2.0, 2.0, 2.0]]


def test_wins_add_up_to_the_rows_ties_shared():
    wins = win_counts([[0.9, 0.8, 0.9], [0.5, 0.5, 0.5], [0.1, 0.2, 0.0]])
    assert wins.tolist() == pytest.approx([1 / 2 + 1 / 3, 1 / 3 + 1, 1 / 2 + 1 / 3])
    assert wins.sum() == pytest.approx(3)


@pytest.mark.parametrize(
    ("n_methods", "quantile"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_the_critical_difference_uses_the_published_quantiles(n_methods, quantile):
    """Table 5a of Demšar (2006), at 0.05."""
    expected = quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    assert nemenyi_difference(n_methods, 30) == pytest.approx(expected, abs=0.001)


def test_friedmans_test_is_that_of_the_ranks():
    # Every row ranks the columns alike: chi2 = 12 n / (k (k + 1)) (1 + 4 + 9) - 3 n (k + 1) = 2 n.
    values = [[0.9, 0.8, 0.7]] * 5
    assert friedman_p(values) == pytest.approx(math.exp(-5))  # chi2 of 10 with 2 degrees


@pytest.mark.parametrize(
    "values", [[[0.9, 0.8]] * 5, [[0.9, 0.8, 0.7]], [[0.5, 0.5, 0.5]] * 4], ids=str
)
def test_too_little_to_test_gives_no_p_value(values):
    assert math.isnan(friedman_p(values))


def test_bars_join_the_widest_stretches_within_the_critical_difference():
    assert alike([3.0, 1.0, 1.8, 2.5], 1.0) == [(1.0, 1.8), (1.8, 2.5), (2.5, 3.0)]
    assert alike([3.0, 1.0, 1.8, 2.5], 5.0) == [(1.0, 3.0)]
    assert alike([1.0, 3.0], 1.0) == []


def test_the_interval_of_a_known_sample():
    # Mean 3, deviation sqrt(2.5), t of 4 degrees 2.776: half the width is 1.963.
    interval = mean_interval([1, 2, 3, 4, 5])
    assert (interval.mean, interval.n) == (3.0, 5)
    assert interval.low == pytest.approx(3 - 1.963, abs=0.001)
    assert interval.high == pytest.approx(3 + 1.963, abs=0.001)
    assert interval.excludes_zero


def test_one_value_has_no_interval_and_proves_nothing():
    interval = mean_interval([0.4])
    assert interval.mean == 0.4
    assert math.isnan(interval.low)
    assert not interval.excludes_zero


def test_an_interval_around_zero_proves_nothing():
    assert not mean_interval([-1, 1, 2]).excludes_zero
    assert mean_interval([-1.0, -1.1, -0.9]).excludes_zero


def test_pairs_are_runs_of_the_same_set_and_seed_and_sets_are_the_units():
    lines = [
        *run_lines("a", 1, 0.9),
        *run_lines("a", 2, 0.5),
        *run_lines("a", 1, 0.8, method="oc/rd"),  # +0.1
        *run_lines("a", 2, 0.2, method="oc/rd"),  # +0.3
        *run_lines("b", 1, 0.7),
        *run_lines("b", 1, 0.3, method="oc/rd"),  # +0.4
        *run_lines("b", 2, 0.1, method="oc/rd"),  # no partner
        *run_lines("c", 1, 0.1),  # nor has this one
    ]
    imboost, other = method_tables(lines)
    interval = paired_interval(imboost, other, "test_auc")
    assert (interval.n, interval.mean) == (2, pytest.approx((0.2 + 0.4) / 2))


def test_parts_of_a_set_that_only_one_method_has_are_not_subtracted():
    lines = [
        *run_lines("I_x", 1, 0.9, group="I"),
        *run_lines("I_y", 1, 0.1, group="I"),
        *run_lines("I_x", 1, 0.8, group="I", method="oc/rd"),
    ]
    assert paired_interval(*method_tables(lines), "test_auc").mean == pytest.approx(0.1)


def test_a_ranking_is_over_the_named_sets():
    lines = [
        line
        for name, aucs in {
            "a": (0.9, 0.8, 0.7),
            "b": (0.9, 0.9, 0.1),
            "c": (0.0, 0.1, 1.0),
        }.items()
        for method, auc in zip(("imboost/mm", "oc/rd", "sb/rd"), aucs, strict=True)
        for line in run_lines(name, 1, auc, method=method)
    ]
    ranking = Ranking.of(method_tables(lines), ["a", "b"], "test_auc")
    assert ranking.names == ("imboost/mm", "oc/rd", "sb/rd")
    assert ranking.ranks == pytest.approx((1.25, 1.75, 3.0))
    assert ranking.wins == pytest.approx((1.5, 0.5, 0.0))
    assert ranking.critical == pytest.approx(nemenyi_difference(3, 2))


def test_without_shared_sets_there_are_no_ranks():
    ranking = Ranking.of(method_tables(run_lines("a", 1, 0.9)), [], "test_auc")
    assert math.isnan(ranking.ranks[0])
    assert math.isnan(ranking.critical)
