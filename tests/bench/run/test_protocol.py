from dataclasses import replace
from importlib.metadata import version
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from imboost.datasets import planted_outliers
from imboost.datasets.dataset import Dataset
from imboost_bench.run import protocol
from imboost_bench.run.protocol import RunSpec, run

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


def test_computing_the_metrics_does_not_count_as_time_spent(monkeypatch):
    clock = SimpleNamespace(now=0.0)

    def slow_metric(y, scores):
        clock.now += 100.0
        return roc_auc_score(y, scores)

    monkeypatch.setattr(protocol, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    monkeypatch.setattr(protocol, "roc_auc_score", slow_metric)
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
    assert str(replace(SPEC, rounds=5)) == "imboost/mm on small, seed 100"
    other = replace(SPEC, budget="0.002", oracle_noise=0.1, settings="inlier_weight=0")
    assert str(other) == (
        "imboost/mm on small, seed 100, rounds 2, budget 0.002, noise 0.1, inlier_weight=0"
    )


def test_the_identity_of_a_run_seeds_its_randomness():
    seeds = {part: SPEC.seed_of(part) for part in ("detector", "strategy", "oracle")}
    assert len(set(seeds.values())) == 3
    assert {part: replace(SPEC).seed_of(part) for part in seeds} == seeds
    for other in (replace(SPEC, seed=200), replace(SPEC, dataset="large")):
        assert all(other.seed_of(part) != seed for part, seed in seeds.items())


def test_methods_compared_on_a_set_share_what_they_have_in_common():
    other_query = replace(SPEC, query="rd")
    assert other_query.seed_of("detector") == SPEC.seed_of("detector")
    assert other_query.seed_of("oracle") == SPEC.seed_of("oracle")
    assert other_query.seed_of("strategy") != SPEC.seed_of("strategy")
    other_detector = replace(SPEC, detector="oc")
    assert other_detector.seed_of("strategy") == SPEC.seed_of("strategy")


@pytest.mark.parametrize(("text", "asked"), [("0.1", 7), ("20rows", 20), ("paper", 6)])
def test_a_budget_sets_the_questions_of_a_round(text, asked):
    spec = replace(SPEC, rounds=1, budget=text)
    assert [line.n_labelled for line in run(spec, SMALL)] == [0, asked]


def test_settings_reach_the_detector_and_the_strategy(monkeypatch):
    made = {}

    def remember(kind, original):
        def make(name, **settings):
            made[kind] = settings
            return original(name, **settings)

        return make

    monkeypatch.setattr(protocol, "make_detector", remember("detector", protocol.make_detector))
    monkeypatch.setattr(protocol, "make_strategy", remember("strategy", protocol.make_strategy))
    list(run(replace(SPEC, rounds=0, settings="inlier_weight=0;query__alpha=0.3"), SMALL))
    assert made == {"detector": {"inlier_weight": 0}, "strategy": {"alpha": 0.3}}


def test_an_oracle_that_is_always_wrong_turns_the_ranking_round():
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.4).astype(np.int8)
    apart = Dataset("apart", "apart", rng.normal(size=(300, 2)) + 8 * y[:, None], y)

    def final_auc(noise):
        return list(run(RunSpec("trees", "rd", "apart", 100, oracle_noise=noise), apart))[-1]

    assert final_auc(0.0).test_auc > 0.99
    assert final_auc(1.0).test_auc < 0.01


def test_a_line_says_which_version_and_device_it_comes_from(results):
    assert {(line.version, line.device) for line in results} == {(version("imboost"), "cpu")}
