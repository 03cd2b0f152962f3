from dataclasses import replace

import pytest
import torch

from adbench_folder import DeadlyPath, write_planted, write_set
from imboost.errors import DataError, SettingError, UnknownNameError
from imboost_bench.run.plan import Method, make_plan
from imboost_bench.run.protocol import RoundResult, run
from imboost_bench.run.results import ResultFile
from imboost_bench.run.runner import run_all


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_planted(tmp_path_factory.mktemp("adbench"), "ash", "birch")


@pytest.fixture
def results(tmp_path):
    return ResultFile(tmp_path / "results.csv", RoundResult)


def plan_for(data, detector="imboost", query=None, **settings):
    methods = [Method.named(detector, query)]
    return make_plan(data, **{"methods": methods, "seeds": (1,), "rounds": 1, **settings})


def run_plan(plan, results):
    """Run a plan; return status and reason of each run."""
    outcomes = {}

    def on_done(spec, last):
        assert last.spec == spec
        outcomes[spec.dataset] = (last.status, last.reason)

    run_all(run, plan, results, on_done)
    return outcomes


def outcome(results):
    """Return the results in a fixed order, without the time they took."""
    lines = [replace(line, seconds=0.0) for line in results.read()]
    return sorted(lines, key=lambda line: (line.dataset, line.round))


def test_a_plan_holds_every_data_set_with_every_seed(data):
    plan = plan_for(data, seeds=(1, 2))
    assert [(spec.dataset, spec.seed) for spec in plan.specs] == [
        ("ash", 1),
        ("ash", 2),
        ("birch", 1),
        ("birch", 2),
    ]


def test_a_plan_starts_with_the_largest_set(tmp_path):
    write_planted(tmp_path, "small", n_rows=60)
    write_planted(tmp_path, "other", "large", n_rows=120)
    (tmp_path / "Classical" / "1_other.npz").unlink()
    assert [spec.dataset for spec in plan_for(tmp_path).specs] == ["large", "small"]


def test_a_set_or_a_seed_named_twice_is_run_once(data):
    plan = plan_for(data, datasets=("ash", "ash"), seeds=(1, 1))
    assert [(spec.dataset, spec.seed) for spec in plan.specs] == [("ash", 1)]


def test_without_a_query_the_detectors_own_is_used(data):
    assert {spec.query for spec in plan_for(data).specs} == {"mm"}
    assert {spec.query for spec in plan_for(data, query="rd").specs} == {"rd"}


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"detector": "imbost"}, UnknownNameError, "Unknown detector 'imbost'.*'imboost'"),
        ({"query": "mmm"}, UnknownNameError, "Unknown query strategy 'mmm'.*'mm'"),
        ({"datasets": ("birhc",)}, UnknownNameError, "Unknown data set 'birhc'.*'birch'"),
        ({"device": "abacus"}, SettingError, "device must be .*abacus"),
        ({"rounds": -1}, SettingError, "rounds must be at least 0"),
        ({"jobs": 0}, SettingError, "jobs must be at least 1"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_runs(data, wrong, error, message):
    with pytest.raises(error, match=message):
        plan_for(data, **wrong)


def test_a_plan_without_data_is_refused(tmp_path):
    with pytest.raises(DataError, match="Minqi824/ADBench"):
        plan_for(tmp_path)


def test_runs_are_appended_and_reported(data, results):
    outcomes = run_plan(plan_for(data), results)
    assert outcomes == {"ash": ("ok", ""), "birch": ("ok", "")}
    assert results.finished() == set(plan_for(data).specs)


def test_finished_runs_are_skipped(data, results):
    run_plan(plan_for(data, datasets=("ash",)), results)
    before = results.path.read_bytes()
    assert list(run_plan(plan_for(data), results)) == ["birch"]
    after = results.path.read_bytes()
    assert after.startswith(before)
    assert run_plan(plan_for(data), results) == {}
    assert results.path.read_bytes() == after


def test_a_run_whose_last_line_was_cut_short_is_repeated_with_the_same_result(data, results):
    plan = plan_for(data)
    run_plan(plan, results)
    expected, content = outcome(results), results.path.read_bytes()
    results.path.write_bytes(content[:-20])
    assert list(run_plan(plan, results)) == [plan.specs[-1].dataset]
    assert outcome(results) == expected
    lines = results.path.read_text(encoding="utf-8").splitlines()
    assert {line.count(",") for line in lines} == {lines[0].count(",")}


def test_a_data_set_that_fails_becomes_one_line_and_the_others_go_on(tmp_path, results):
    data = write_planted(tmp_path / "data", "ash", "birch")
    (data / "Classical" / "1_ash.npz").write_bytes(b"not an archive")
    outcomes = run_plan(plan_for(data), results)
    assert outcomes["birch"] == ("ok", "")
    assert outcomes["ash"][0] == "failed"
    [line] = [line for line in results.read() if line.dataset == "ash"]
    assert (line.status, line.round) == ("failed", -1)
    assert line.reason.startswith("DataError: ")
    assert "not a readable .npz file" in line.reason


def test_a_set_that_no_split_can_be_made_of_fails_with_that_reason(tmp_path, results):
    rows = [[float(number)] for number in range(30)]
    write_set(tmp_path, "Classical/1_single.npz", X=rows, y=[1] + [0] * 29)
    outcomes = run_plan(plan_for(tmp_path), results)
    assert "two outliers" in outcomes["single"][1]


def test_a_run_that_failed_is_tried_again_and_then_counts(tmp_path, results):
    data = write_planted(tmp_path / "data", "ash")
    path = data / "Classical" / "1_ash.npz"
    content = path.read_bytes()
    path.write_bytes(b"")
    assert run_plan(plan_for(data), results)["ash"][0] == "failed"
    path.write_bytes(content)
    assert run_plan(plan_for(data), results)["ash"] == ("ok", "")
    assert {line.status for line in results.read()} == {"ok"}


def test_parallel_runs_give_the_same_lines(data, results, tmp_path):
    run_plan(plan_for(data, jobs=1), results)
    parallel = ResultFile(tmp_path / "parallel.csv", RoundResult)
    outcomes = run_plan(plan_for(data, jobs=2), parallel)
    assert outcomes == {"ash": ("ok", ""), "birch": ("ok", "")}
    assert outcome(parallel) == outcome(results)


def test_a_worker_that_dies_costs_its_own_run_alone(data, results):
    plan = plan_for(data, jobs=2)
    ash = plan.files["ash"]
    deadly = replace(ash, path=DeadlyPath(str(ash.path)))
    outcomes = run_plan(replace(plan, files={**plan.files, "ash": deadly}), results)
    assert outcomes["birch"] == ("ok", "")
    assert outcomes["ash"] == ("failed", "the worker process died (out of memory?)")
    assert [line.reason for line in results.read() if line.status == "failed"] == [
        "the worker process died (out of memory?)"
    ]


def test_a_run_in_this_process_leaves_its_threads_alone(data, results):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        run_plan(plan_for(data, datasets=("ash",)), results)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_a_run_over_its_time_limit_is_skipped_with_that_reason(data, results):
    outcomes = run_plan(plan_for(data, datasets=("ash",), time_limit=0.01), results)
    assert outcomes == {"ash": ("skipped", "over the time limit of 0.01 s")}
    [line] = results.read()
    assert (line.status, line.round, line.seconds) == ("skipped", -1, 0.01)


def test_a_skipped_run_is_tried_again_only_with_a_longer_limit(data, results):
    def run_with(limit):
        return run_plan(plan_for(data, datasets=("ash",), time_limit=limit), results)

    run_with(0.02)
    assert run_with(0.01) == {}
    assert run_with(0.02) == {}
    assert run_with(0.03)["ash"][0] == "skipped"
    assert run_with(None) == {"ash": ("ok", "")}
    assert run_with(0.01) == {}
    assert {line.status for line in results.read()} == {"ok"}


def test_a_run_within_its_time_limit_is_what_it_is_without(data, results, tmp_path):
    run_plan(plan_for(data, datasets=("ash",)), results)
    limited = ResultFile(tmp_path / "limited.csv", RoundResult)
    run_plan(plan_for(data, datasets=("ash",), time_limit=300), limited)
    assert outcome(limited) == outcome(results)
