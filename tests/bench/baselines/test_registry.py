"""The detectors and query strategies of the benchmark."""

import numpy as np
import pytest

from conftest import QUICK
from imboost.checks import check_query_strategy
from imboost.errors import UnknownNameError
from imboost.query import MixtureBoundary, RandomRows
from imboost_bench.baselines import make_detector, make_strategy
from imboost_bench.baselines.deep_svdd import DeepSVDD
from imboost_bench.baselines.registry import RandomThenMixture

SCORES = np.concatenate([np.linspace(0, 1, 15), np.linspace(6, 8, 5)])
ANSWERS = np.ones(3, dtype=np.int8)


@pytest.mark.parametrize("objective", ["oc", "sb", "oc-nce", "sb-nce"])
def test_the_name_of_an_objective_makes_deep_svdd_with_it(objective):
    expected = DeepSVDD(objective=objective).get_params()
    assert make_detector(objective).get_params() == expected


@pytest.mark.parametrize(("objective", "rate"), [("oc", 1e-4), ("sb", 1e-3), ("oc-nce", 1e-3)])
def test_an_objective_has_its_own_learning_rate_unless_one_is_given(objective, rate, planted):
    quick = {**QUICK["oc"], "objective": objective, "random_state": 0}
    own, same, other = (
        DeepSVDD(learning_rate=given, **quick).fit(planted.X).decision_scores_
        for given in (None, rate, 3e-3)
    )
    np.testing.assert_array_equal(own, same)
    assert not np.array_equal(own, other)


def test_an_unknown_name_or_setting_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'dsad'"):
        make_detector("dsadd")
    with pytest.raises(UnknownNameError, match="Did you mean 'n_trees'"):
        make_detector("aad", n_tree=3)
    with pytest.raises(UnknownNameError, match="Did you mean 'alpha'"):
        make_strategy("mm", alfa=0.3)


def test_rd_mm_keeps_the_contract_of_query_strategies():
    check_query_strategy(RandomThenMixture)


def test_rd_mm_is_random_in_the_first_round_and_mm_in_all_others():
    def selected(strategy):
        return strategy.select(SCORES, np.arange(20), 4, np.random.default_rng(0)).tolist()

    schedule = make_strategy("rd-mm")
    assert selected(schedule) == selected(RandomRows())
    for _ in range(3):
        schedule.update(ANSWERS, ANSWERS)
        assert selected(schedule) == selected(MixtureBoundary())
