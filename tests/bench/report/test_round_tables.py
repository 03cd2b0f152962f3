"""Tables of single rounds: means, differences, waiting times and rounds in which the AUC fell."""

from dataclasses import replace

import pandas as pd
import pytest

from imboost_bench.analysis.comparison import mean_intervals
from report_making import csv_table, report_on
from result_lines import run_lines

ROUNDS = [
    *run_lines("a", 1, 0.5, 0.6, 0.8, rounds=2),
    *run_lines("a", 2, 0.5, 0.8, 0.8, rounds=2),
    *run_lines("b", 1, 0.5, 0.9, 1.0, rounds=2),
    *run_lines("a", 1, 0.4, 0.5, 0.6, rounds=2, method="oc/rd"),
    *run_lines("a", 2, 0.4, 0.5, 0.6, rounds=2, method="oc/rd"),
    *run_lines("b", 1, 0.5, 0.5, 0.6, rounds=2, method="oc/rd"),
    *run_lines("c", 1, 0.1, 0.1, 0.1, rounds=2),  # the other method lacks it
    *run_lines("b", 2, 0.1, 0.1, 0.1, rounds=2)[:2],  # has not ended
]


@pytest.mark.parametrize(("metric", "share"), [("auc", 1.0), ("ap", 0.5)])
def test_every_round_is_a_mean_over_the_shared_data_sets(tmp_path, metric, share):
    report_on(tmp_path, ROUNDS)
    row = csv_table(tmp_path, f"round_by_round_{metric}")["imboost/mm"]
    assert list(row)[1:] == ["round 0", "round 1", "round 2", "mean of rounds 1 to 2"]
    # Set a has 0.7 after round 1, the mean of its seeds.
    expected = [0.5, (0.7 + 0.9) / 2, (0.8 + 1.0) / 2, (0.75 + 0.95) / 2]
    found = [float(value) for value in list(row.values())[1:]]
    assert found == pytest.approx([share * figure for figure in expected])


def test_every_round_has_the_others_minus_the_reference_with_its_interval(tmp_path):
    report_on(tmp_path, ROUNDS)
    [row] = csv_table(tmp_path, "round_by_round_auc_differences").values()
    assert row["method"] == "oc/rd"
    expected = {
        "round 0": (-0.1, 0.0),
        "round 1": (-0.2, -0.4),
        "round 2": (-0.2, -0.4),
        "mean of rounds 1 to 2": (-0.2, -0.4),
    }
    assert row["data sets"] == "2"
    for name, sample in expected.items():
        interval = mean_intervals(pd.DataFrame({"a": sample})).loc["a"]
        assert float(row[name]) == pytest.approx(interval["mean"])
        assert float(row[f"± {name}"]) == pytest.approx(
            interval["mean"] - interval["low"], rel=1e-4
        )


def test_rounds_that_some_runs_lack_are_left_out(report):
    row = csv_table(report, "round_by_round_auc")["imboost/mm"]
    assert list(row) == ["method", "round 4", "round 5", "mean of rounds 4 to 5"]
    assert row["round 5"] == csv_table(report, "summary")["imboost/mm"]["test AUC"]


def test_one_method_alone_has_rounds_but_no_differences(tmp_path):
    report_on(tmp_path, run_lines("wine", 100, 0.5, 0.9))
    assert csv_table(tmp_path, "round_by_round_ap")
    assert not (tmp_path / "tables" / "round_by_round_ap_differences.csv").exists()


def test_rounds_that_made_a_method_clearly_worse_are_counted(tmp_path):
    falls = [
        *run_lines("a", 1, 0.50, 0.90, 0.80, rounds=2),
        *run_lines("a", 2, 0.50, 0.70, 0.70, rounds=2),  # 0.80 to 0.75 on average
        *run_lines("b", 1, 0.50, 0.49, 0.60, rounds=2),
    ]
    report_on(tmp_path, falls)
    row = csv_table(tmp_path, "clearly_worse_rounds")["imboost/mm"]
    assert [row["data sets and rounds"], row["clearly worse"]] == ["4", "1"]
    assert float(row["share"]) == 0.25


def test_waiting_times_are_those_between_rounds(tmp_path):
    lines = run_lines("a", 1, 0.5, 0.6, 0.7, rounds=2)
    timed = [replace(line, seconds=s) for line, s in zip(lines, (4.0, 5.0, 8.0), strict=True)]
    report_on(tmp_path, timed)
    row = csv_table(tmp_path, "waiting_times")["a"]
    waits = [
        float(row[name]) for name in ("before the first question", "between rounds", "longest")
    ]
    assert waits == [4.0, 2.0, 3.0]
