import math

import pytest

from imboost_bench.analysis.comparison import time_ratios
from imboost_bench.analysis.result_set import ResultSet
from result_lines import run_lines


def times_of(lines, reference="imboost/mm", by="device"):
    results = ResultSet(lines)
    times = time_ratios(results.runs, reference, results.keys)
    return {(row.method, getattr(row, by)): row for row in times.itertuples()}


def test_times_are_summed_over_the_runs_that_both_methods_have():
    times = times_of(
        [
            *run_lines("a", 1, 0.9, seconds=2.0),
            *run_lines("b", 1, 0.9, seconds=4.0),
            *run_lines("c", 1, 0.9, seconds=100.0),
            *run_lines("a", 1, 0.9, method="oc-nce/ab", seconds=1.0),
            *run_lines("b", 1, 0.9, method="oc-nce/ab", seconds=11.0),
            *run_lines("d", 1, 0.9, method="oc-nce/ab", seconds=100.0),
        ]
    )
    found = times["oc-nce/ab", "cpu"]
    assert (found.runs, found.seconds, found.reference_seconds) == (2, 12.0, 6.0)
    assert found.ratio == pytest.approx(2.0)
    assert found.paper == pytest.approx(6900.44 / 4484.17)
    assert times["imboost/mm", "cpu"].ratio == 1.0


def test_devices_are_never_mixed():
    times = times_of(
        [
            *run_lines("a", 1, 0.9, seconds=8.0, device="cpu"),
            *run_lines("b", 1, 0.9, seconds=1.0, device="cuda"),
            *run_lines("c", 1, 0.9, seconds=1.0, device="cuda"),
            *run_lines("a", 1, 0.9, method="oc/rd", seconds=4.0, device="cpu"),
            *run_lines("b", 1, 0.9, method="oc/rd", seconds=3.0, device="cuda"),
            *run_lines("c", 1, 0.9, method="oc/rd", seconds=50.0, device="cpu"),
        ]
    )
    assert times["oc/rd", "cpu"].ratio == pytest.approx(0.5)
    assert times["oc/rd", "cuda"].ratio == pytest.approx(3.0)
    assert (times["oc/rd", "cpu"].runs, times["oc/rd", "cuda"].runs) == (1, 1)


def test_machines_are_never_mixed():
    times = times_of(
        [
            *run_lines("a", 1, 0.9, seconds=8.0, host="here"),
            *run_lines("b", 1, 0.9, seconds=2.0, host="there"),
            *run_lines("c", 1, 0.9, seconds=1.0, host="here"),
            *run_lines("a", 1, 0.9, method="oc/rd", seconds=4.0, host="here"),
            *run_lines("b", 1, 0.9, method="oc/rd", seconds=8.0, host="there"),
            *run_lines("c", 1, 0.9, method="oc/rd", seconds=90.0, host="there"),
        ],
        by="host",
    )
    found = {host: (row.runs, row.ratio) for (name, host), row in times.items() if name == "oc/rd"}
    assert found == {"here": (1, 0.5), "there": (1, 4.0)}


def test_a_method_the_paper_did_not_time_has_no_ratio_of_the_paper():
    times = times_of(
        [
            *run_lines("a", 1, 0.9),
            *run_lines("a", 1, 0.9, method="oc/rd"),
            *run_lines("a", 1, 0.9, settings="n_members=5"),
        ]
    )
    assert math.isnan(times["oc/rd", "cpu"].paper)
    assert math.isnan(times["imboost/mm · n_members=5", "cpu"].paper)


def test_the_papers_ratio_is_to_the_same_reference():
    lines = [
        *run_lines("a", 1, 0.9, seconds=1.0),
        *run_lines("a", 1, 0.9, method="oc-nce/ab", seconds=2.0),
        *run_lines("a", 1, 0.9, method="trees/mix", seconds=1.0),
    ]
    to_imboost = times_of(lines)["oc-nce/ab", "cpu"]
    assert to_imboost.paper == pytest.approx(6900.44 / 4484.17)
    assert math.isnan(times_of(lines, "trees/mix")["oc-nce/ab", "cpu"].paper)
