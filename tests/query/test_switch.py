"""A schedule of two strategies."""

import numpy as np
import pytest

from conftest import make_quick
from imboost import Session
from imboost.errors import IMBoostError
from imboost.query import (
    AdaptiveBoundary,
    HighestScores,
    MixtureBoundary,
    RandomRows,
    Spread,
    Switch,
    make_strategy,
    needs_embedding,
)
from imboost.session import MemoryLog, Oracle, run_rounds

ROWS = np.arange(20)
SCORES = np.concatenate([np.linspace(0, 1, 15), np.linspace(6, 8, 5)])
OUTLIERS = np.ones(3, dtype=np.int8)
RNG = np.random.default_rng


def selected(strategy):
    return strategy.select(SCORES, ROWS, 4, RNG(0)).tolist()


def test_rd_mm_is_random_in_the_first_round_and_mm_in_all_others():
    schedule = make_strategy("rd-mm")
    assert selected(schedule) == selected(RandomRows())
    for _ in range(3):
        schedule.update(OUTLIERS, OUTLIERS)
        assert selected(schedule) == selected(MixtureBoundary())


@pytest.mark.parametrize("switch_round", [0, 2])
def test_the_second_strategy_begins_after_the_rounds_of_the_first(switch_round):
    schedule = Switch("rd", "hc", switch_round)
    for number in range(4):
        expected = RandomRows() if number < switch_round else HighestScores()
        assert selected(schedule) == selected(expected)
        schedule.update(OUTLIERS, OUTLIERS)


def test_only_the_strategy_that_asked_adapts_to_the_answers():
    given = AdaptiveBoundary(start=0.1)
    schedule = Switch(given, given, switch_round=1)  # copied, so one object can be both
    first, second = schedule._strategies
    schedule.update(OUTLIERS, OUTLIERS)
    assert (first.outside, second.outside) == (0.2, 0.1)
    schedule.update(OUTLIERS, OUTLIERS)
    assert (first.outside, second.outside) == (0.2, 0.2)
    assert given.outside == 0.1


def test_only_settings_are_shown():
    schedule = Switch("cp", "hc")
    assert repr(schedule) == "Switch(first='cp', second='hc', switch_round=1)"


def test_an_embedding_is_needed_only_by_strategies_that_use_it():
    assert not needs_embedding(Switch())
    schedule = Switch("rd", Switch("mm", Spread()))
    assert needs_embedding(schedule)
    schedule.set_embedding(np.arange(6.0).reshape(3, 2))
    assert schedule._strategies[1]._strategies[1]._points is not None


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"first": "rdd"}, "Did you mean 'rd'"),
        ({"first": 5}, "first must be a query strategy or the name of one, got 5"),
        ({"second": RandomRows}, "second must be a query strategy or the name of one"),
        ({"switch_round": -1}, "switch_round must be at least 0"),
        ({"switch_round": 1.5}, "switch_round must be an integer"),
    ],
)
def test_a_wrong_setting_of_a_schedule_is_named(settings, error):
    with pytest.raises((IMBoostError, TypeError), match=error):
        make_strategy("rd-mm", **settings)


def test_a_session_takes_no_query_that_is_no_strategy(planted):
    with pytest.raises(TypeError, match="query must be a query strategy or the name of one"):
        Session(make_quick("imboost"), planted.X, query=5)


def test_a_reopened_session_is_past_the_switch(planted):
    """The number of rounds is not stored: it follows from the log."""

    def start(log):
        schedule = Switch("rd", "hc", switch_round=2)
        return Session(make_quick("imboost"), planted.X, query=schedule, log=log, random_state=3)

    log = MemoryLog()
    for _ in run_rounds(start(log), Oracle(planted.y), 2, 5):
        pass
    reopened = start(log).start()
    labels = reopened.labels
    free = np.flatnonzero(labels < 0)
    highest = HighestScores().select(reopened.detector.query_scores_, free, 5, RNG(0))
    assert reopened.ask(5) == highest.tolist()
