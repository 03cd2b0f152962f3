import csv
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from adbench_folder import write_planted
from imboost_bench.run.plan import Method, make_plan
from imboost_bench.run.protocol import RoundResult, run
from imboost_bench.run.results import ResultFile
from imboost_bench.run.runner import run_all

SEEDS = (1, 2, 3)
PROGRAM = [sys.executable, "-c", "from imboost_bench.cli.main import main; main()"]
PATIENCE = 120.0


@pytest.fixture
def data(tmp_path):
    return write_planted(tmp_path / "data", "ash", "birch")


@pytest.fixture
def results(tmp_path):
    return ResultFile(tmp_path / "out" / "results.csv", RoundResult)


def start_benchmark(data, results):
    options = ["--data", data, "--out", results.path.parent, "--rounds", "1", "--jobs", "2"]
    options += ["--detector", "imboost"]
    seeds = [part for seed in SEEDS for part in ("--seed", str(seed))]
    return subprocess.Popen(
        [*PROGRAM, "run", *options, *seeds],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )


def kill_in_the_middle(process, results):
    """Kill the program, not its workers, once a run is finished; wait until all are gone."""
    give_up = time.monotonic() + PATIENCE
    while not results.finished() and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.02)
    process.kill()
    try:
        # The pipe ends when no process holds it any more: the workers must end by themselves.
        process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        pytest.fail("The workers outlived the program.")


def figures_of(results):
    """Return all that was measured but the time, in a fixed order."""
    lines = [replace(line, seconds=0.0) for line in results.read()]
    return sorted(lines, key=lambda line: (line.dataset, line.seed, line.round))


def test_a_killed_benchmark_loses_no_finished_run_and_repeats_none(data, results):
    plan = make_plan(data, methods=[Method.named("imboost")], seeds=SEEDS, rounds=1)
    kill_in_the_middle(start_benchmark(data, results), results)
    before, left = results.finished(), results.path.read_bytes()
    assert 0 < len(before) < len(plan.specs)

    done = []
    run_all(run, plan, results, lambda spec, *_: done.append(spec))
    assert set(done) == set(plan.specs) - before
    assert results.finished() == set(plan.specs)
    whole_lines = left[: left.rfind(b"\n") + 1]
    assert results.path.read_bytes().startswith(whole_lines)
    with results.path.open(encoding="utf-8", newline="") as file:
        ends = [row for row in csv.DictReader(file) if row["round"] == "1"]
    assert len(ends) == len(plan.specs)

    uninterrupted = ResultFile(results.path.with_name("uninterrupted.csv"), RoundResult)
    run_all(run, plan, uninterrupted, lambda *_: None)
    assert figures_of(results) == figures_of(uninterrupted)
