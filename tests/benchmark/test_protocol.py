from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from imboost.benchmark import RunSpec, protocol, run
from imboost.benchmark.metrics import quality
from imboost.data import planted_outliers

SPEC = RunSpec("imboost", "mm", "small", seed=100, rounds=2)
SMALL = planted_outliers(100, 3, 0.1)


@pytest.fixture(scope="module")
def results():
    return list(run(SPEC, SMALL))


def without_seconds(lines):
    return [replace(line, seconds=0.0) for line in lines]


def test_a_run_gives_a_result_before_any_answer_and_after_every_round(results):
    assert [line.round for line in results] == [0, 1, 2]


def test_only_the_last_round_ends_a_run(results):
    assert [line.ends_run for line in results] == [False, False, True]


def test_a_small_table_is_asked_about_six_rows_a_round(results):
    assert [line.n_labelled for line in results] == [0, 6, 12]


def test_a_larger_table_is_asked_about_one_row_in_a_hundred():
    lines = list(run(replace(SPEC, rounds=1), planted_outliers(1200, 3)))
    assert [line.n_train for line in lines] == [840, 840]
    assert [line.n_labelled for line in lines] == [0, 8]


def test_a_result_says_what_was_run_on_what(results):
    for line in results:
        assert line.spec == SPEC
        assert (line.dataset, line.group) == ("small", "planted")
        assert (line.n_train, line.n_features) == (70, 3)
        assert (line.status, line.reason) == ("ok", "")


def test_outliers_found_never_exceed_answers_nor_fall(results):
    found = [line.n_outliers_found for line in results]
    assert found[0] == 0
    assert found == sorted(found)
    assert all(line.n_outliers_found <= line.n_labelled for line in results)


def test_figures_are_shares(results):
    for line in results:
        figures = (line.train_auc, line.train_ap, line.test_auc, line.test_ap)
        assert all(0 <= figure <= 1 for figure in figures)


def test_seconds_count_up(results):
    assert all(later.seconds >= earlier.seconds for earlier, later in pairwise(results))
    assert results[0].seconds > 0


def test_judging_the_scores_does_not_count_as_time_spent(monkeypatch):
    clock = SimpleNamespace(now=0.0)

    def slow_quality(y, scores):
        clock.now += 100.0
        return quality(y, scores)

    monkeypatch.setattr(protocol, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    monkeypatch.setattr(protocol, "quality", slow_quality)
    lines = list(run(replace(SPEC, rounds=1), SMALL))
    assert clock.now == 400.0
    assert [line.seconds for line in lines] == [0.0, 0.0]


def test_equal_specifications_give_equal_results(results):
    assert without_seconds(run(SPEC, SMALL)) == without_seconds(results)


def test_another_seed_gives_other_results(results):
    other = without_seconds(run(replace(SPEC, seed=200), SMALL))
    assert [line.test_auc for line in other] != [line.test_auc for line in results]


def test_methods_share_split_and_warm_up_on_a_seed(results):
    other = next(iter(run(replace(SPEC, query="rd"), SMALL)))
    assert (other.train_auc, other.test_auc) == (results[0].train_auc, results[0].test_auc)


def test_a_run_without_rounds_is_its_warm_up(results):
    [line] = run(replace(SPEC, rounds=0), SMALL)
    assert line.ends_run
    assert line.test_auc == results[0].test_auc


def test_a_specification_reads_as_a_phrase():
    assert str(SPEC) == "imboost/mm on small, seed 100"
