"""The check of promises about decisions."""

import numpy as np
import pytest

from adbench_folder import write_planted
from imboost.benchmark.run.decisions import DecisionResult, judge_decisions, sum_up
from imboost.benchmark.run.protocol import RunSpec
from imboost.datasets import planted_outliers
from program_running import run_program


def line(dataset, seed, number, **values):
    usual = {
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
        "advises_stop": False,
    }
    return DecisionResult(dataset=dataset, seed=seed, round=number, **{**usual, **values})


def test_promises_are_judged_after_the_last_round_and_advice_when_it_comes():
    lines = [
        line("a", 1, 0),
        line("a", 1, 1, advises_stop=True, share_found=0.8),
        line("a", 1, 2, calibration_error=0.2),
        line("b", 1, 0, advises_stop=True),  # before any answer, it is none
        line("b", 1, 1, precision=0.7),
        line("b", 1, 2, precision=np.nan, unfound=1.0),
    ]
    verdict = sum_up(lines)
    assert verdict.n_runs == 2
    assert verdict.calibration_error == pytest.approx(0.15)
    assert verdict.precision_covered == 1.0  # of the one run that called anything
    assert verdict.unfound_covered == 0.5
    assert verdict.share_found == pytest.approx(0.9)
    assert verdict.stopped_runs == verdict.stopped_sets == 0.5


def test_a_run_says_what_was_claimed_and_true():
    lines = judge_decisions(RunSpec("stack", "spread", "planted", 1, 2), planted_outliers(200))
    assert [line.round for line in lines] == [0, 1, 2]
    assert lines[-1].share_found == 1.0
    assert all(line.precision_low <= line.precision_high for line in lines)
    assert all(0 <= line.calibration_error <= 1 for line in lines)


def test_the_command_writes_lines_and_prints_the_verdict(tmp_path):
    data = write_planted(tmp_path / "data", "one", "two")
    ended = run_program(
        *("bench", "decisions", "--data", data, "--out", tmp_path / "out"),
        *("--seed", "1", "--rounds", "1"),
    )
    assert ended.code == 0
    assert "expected calibration error" in ended.text
    written = (tmp_path / "out" / "decisions.csv").read_text(encoding="utf-8").splitlines()
    assert written[0].startswith("dataset,seed,round,n_labelled,calibration_error")
