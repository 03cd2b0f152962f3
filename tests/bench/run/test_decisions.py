"""The evaluation of probabilities, intervals and the advice to stop."""

import csv

import numpy as np
import pytest

from adbench_folder import write_planted
from imboost.datasets import planted_outliers
from imboost_bench.cli.main import main
from imboost_bench.run.decisions import (
    DecisionResult,
    evaluate_decisions,
    summarize_decisions,
)
from imboost_bench.run.protocol import RunSpec
from program_running import run_program


def line(dataset, seed, number, **values):
    defaults = {
        "n_labelled": 6 * number,
        "calibration_error": 0.1,
        "precision": 0.5,
        "precision_low": 0.4,
        "precision_high": 0.6,
        "unfound": 3.0,
        "unfound_low": 0.0,
        "unfound_high": 2.0,
        "n_found": number,
        "estimated_share": 0.5,
        "share_found": number / 2,
    }
    spec = RunSpec("stack", "spread", dataset, seed, rounds=2)
    return DecisionResult.of(spec, dataset, round=number, **{**defaults, **values})


def test_intervals_count_after_the_last_round_and_advice_when_it_first_comes():
    lines = [
        line("a", 1, 0),
        line("a", 1, 1, advises_stop=True, share_found=0.8),
        line("a", 1, 2, calibration_error=0.2),
        line("b", 1, 0, advises_stop=True),  # advice before any answer does not count
        line("b", 1, 1, precision=0.7),
        line("b", 1, 2, precision=np.nan, unfound=1.0),
    ]
    assert summarize_decisions(lines)["value"].tolist() == pytest.approx(
        [
            0.15,  # expected calibration error
            1.0,  # precision, of the one run with rows above the threshold
            0.5,  # outliers not found
            0.9,  # outliers found at the advice to stop
            0.5,  # runs with such advice
            0.5,  # data sets
        ]
    )


def test_a_run_holds_estimates_and_true_values_after_every_round():
    lines = evaluate_decisions(RunSpec("stack", "spread", "planted", 1, 2), planted_outliers(200))
    assert [line.round for line in lines] == [0, 1, 2]
    assert lines[-1].share_found == 1.0
    assert all(line.precision_low <= line.precision_high for line in lines)
    assert all(0 <= line.calibration_error <= 1 for line in lines)


def bench_decisions(data, out):
    return run_program(
        *("decisions", "--data", data, "--out", out, "--seed", "1", "--rounds", "1"),
        *("--detector", "trees"),
        main=main,
    )


def results_of(out):
    with (out / "decisions.csv").open(encoding="utf-8", newline="") as file:
        return [(row["dataset"], row["round"], row["status"]) for row in csv.DictReader(file)]


def test_a_failing_run_does_not_end_the_others_and_has_a_line_with_its_reason(tmp_path):
    data = write_planted(tmp_path / "data", "ash", "birch")
    (data / "Classical" / "1_ash.npz").write_bytes(b"damaged")
    ended = bench_decisions(data, tmp_path / "out")
    assert ended.code == 1
    assert "expected calibration error" in ended.text
    assert "failed: trees/mix on ash" in " ".join(ended.errors)
    assert sorted(results_of(tmp_path / "out")) == [
        ("ash", "-1", "failed"),
        ("birch", "0", "ok"),
        ("birch", "1", "ok"),
    ]


def test_a_second_call_does_not_repeat_finished_runs(tmp_path):
    data, out = write_planted(tmp_path / "data", "ash"), tmp_path / "out"
    first = bench_decisions(data, out)
    content = (out / "decisions.csv").read_bytes()
    second = bench_decisions(data, out)
    assert (first.code, second.code) == (0, 0)
    assert "0 runs done, 1 were done before" in " ".join(second.errors)
    assert (out / "decisions.csv").read_bytes() == content
    assert second.text == first.text
