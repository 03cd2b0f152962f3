import math

import pandas as pd
import pytest

from imboost_bench.analysis.comparison import (
    mean_intervals,
    nemenyi_difference,
    outcomes,
    paired_intervals,
    rank_methods,
)
from imboost_bench.analysis.result_set import ResultSet
from result_lines import run_lines


def interval_of(sample):
    return mean_intervals(pd.DataFrame({"sample": sample})).loc["sample"]


def difference_of(lines, method, reference):
    return paired_intervals(ResultSet(lines).runs, reference, "test_auc").loc[method]


def test_ties_share_their_ranks():
    ranking = rank_methods(pd.DataFrame([[0.9, 0.8, 0.9], [0.5, 0.5, 0.5]]))
    assert ranking.ranks.tolist() == [(1.5 + 2) / 2, (3 + 2) / 2, (1.5 + 2) / 2]


def test_wins_add_up_to_the_rows_and_ties_share_them():
    wins = rank_methods(pd.DataFrame([[0.9, 0.8, 0.9], [0.5, 0.5, 0.5], [0.1, 0.2, 0.0]])).wins
    assert wins.tolist() == pytest.approx([1 / 2 + 1 / 3, 1 / 3 + 1, 1 / 2 + 1 / 3])
    assert wins.sum() == pytest.approx(3)


@pytest.mark.parametrize(
    ("n_methods", "quantile"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_the_critical_difference_uses_the_published_quantiles(n_methods, quantile):
    """Table 5a of Demšar (2006), at 0.05."""
    expected = quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    assert nemenyi_difference(n_methods, 30) == pytest.approx(expected, abs=0.001)


def test_the_friedman_test_is_that_of_the_ranks():
    # Every row ranks the columns alike: chi2 = 12 n / (k (k + 1)) (1 + 4 + 9) - 3 n (k + 1) = 2 n.
    ranking = rank_methods(pd.DataFrame([[0.9, 0.8, 0.7]] * 5))
    assert ranking.friedman == pytest.approx(math.exp(-5))  # chi2 of 10 with 2 degrees


@pytest.mark.parametrize(
    "values", [[[0.9, 0.8]] * 5, [[0.9, 0.8, 0.7]], [[0.5, 0.5, 0.5]] * 4], ids=str
)
def test_too_few_methods_or_data_sets_give_no_p_value(values):
    assert math.isnan(rank_methods(pd.DataFrame(values)).friedman)


def test_the_interval_of_a_known_sample():
    # Mean 3, deviation sqrt(2.5), t of 4 degrees 2.776: half the width is 1.963.
    interval = interval_of([1, 2, 3, 4, 5])
    assert (interval["mean"], interval["n"]) == (3.0, 5)
    assert interval["low"] == pytest.approx(3 - 1.963, abs=0.001)
    assert interval["high"] == pytest.approx(3 + 1.963, abs=0.001)


def test_one_value_has_no_interval():
    interval = interval_of([0.4])
    assert interval["mean"] == 0.4
    assert math.isnan(interval["low"])


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ([0.4], "too few data sets"),
        ([-1, 1, 2], "not distinguishable"),
        ([-1.0, -1.1, -0.9], "worse"),
        ([1.0, 1.1, 0.9], "better"),
        ([0.1, 0.1, 0.1], "better"),
    ],
)
def test_methods_differ_if_the_interval_excludes_zero(sample, expected):
    assert outcomes(mean_intervals(pd.DataFrame({"sample": sample}))).tolist() == [expected]


def test_pairs_are_runs_of_the_same_data_set_and_seed_and_data_sets_are_the_units():
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
    interval = difference_of(lines, "imboost/mm", "oc/rd")
    assert (interval["n"], interval["mean"]) == (2, pytest.approx((0.2 + 0.4) / 2))


def test_parts_of_a_data_set_that_only_one_method_has_are_not_subtracted():
    lines = [
        *run_lines("I_x", 1, 0.9, group="I"),
        *run_lines("I_y", 1, 0.1, group="I"),
        *run_lines("I_x", 1, 0.8, group="I", method="oc/rd"),
    ]
    assert difference_of(lines, "imboost/mm", "oc/rd")["mean"] == pytest.approx(0.1)


def test_a_ranking_holds_mean_ranks_wins_and_the_critical_difference():
    values = pd.DataFrame({"a": [0.9, 0.9], "b": [0.8, 0.9], "c": [0.7, 0.1]})
    ranking = rank_methods(values)
    assert ranking.ranks.to_dict() == pytest.approx({"a": 1.25, "b": 1.75, "c": 3.0})
    assert ranking.wins.to_dict() == pytest.approx({"a": 1.5, "b": 0.5, "c": 0.0})
    assert ranking.critical == pytest.approx(nemenyi_difference(3, 2))


def test_without_shared_data_sets_there_are_no_ranks():
    ranking = rank_methods(pd.DataFrame({"a": []}, dtype=float))
    assert math.isnan(ranking.ranks["a"])
    assert math.isnan(ranking.critical)
