import pytest

from imboost.benchmark.analysis.method_tables import method_tables
from imboost.benchmark.analysis.running_times import time_ratios
from result_lines import run_lines


def ratios_of(lines):
    base, *_ = tables = method_tables(lines)
    return {(r.key.name, r.device): r for r in time_ratios(tables, base)}


def test_times_are_summed_over_the_runs_that_both_methods_have():
    ratios = ratios_of(
        [
            *run_lines("a", 1, 0.9, seconds=2.0),
            *run_lines("b", 1, 0.9, seconds=4.0),
            *run_lines("c", 1, 0.9, seconds=100.0),
            *run_lines("a", 1, 0.9, method="oc-nce/ab", seconds=1.0),
            *run_lines("b", 1, 0.9, method="oc-nce/ab", seconds=11.0),
            *run_lines("d", 1, 0.9, method="oc-nce/ab", seconds=100.0),
        ]
    )
    found = ratios["oc-nce/ab", "cpu"]
    assert (found.n_runs, found.seconds, found.base_seconds) == (2, 12.0, 6.0)
    assert found.ratio == pytest.approx(2.0)
    assert found.paper == pytest.approx(6900.44 / 4484.17)
    assert ratios["imboost/mm", "cpu"].ratio == 1.0


def test_devices_are_never_mixed():
    ratios = ratios_of(
        [
            *run_lines("a", 1, 0.9, seconds=8.0, device="cpu"),
            *run_lines("b", 1, 0.9, seconds=1.0, device="cuda"),
            *run_lines("c", 1, 0.9, seconds=1.0, device="cuda"),
            *run_lines("a", 1, 0.9, method="oc/rd", seconds=4.0, device="cpu"),
            *run_lines("b", 1, 0.9, method="oc/rd", seconds=3.0, device="cuda"),
            *run_lines("c", 1, 0.9, method="oc/rd", seconds=50.0, device="cpu"),
        ]
    )
    assert ratios["oc/rd", "cpu"].ratio == pytest.approx(0.5)
    assert ratios["oc/rd", "cuda"].ratio == pytest.approx(3.0)
    assert (ratios["oc/rd", "cpu"].n_runs, ratios["oc/rd", "cuda"].n_runs) == (1, 1)


def test_a_method_the_paper_did_not_time_has_no_ratio_of_the_paper():
    ratios = ratios_of(
        [
            *run_lines("a", 1, 0.9),
            *run_lines("a", 1, 0.9, method="oc/rd"),
            *run_lines("a", 1, 0.9, settings="n_members=5"),
        ]
    )
    assert ratios["oc/rd", "cpu"].paper is None
    assert ratios["imboost/mm · n_members=5", "cpu"].paper is None


def test_machines_are_never_mixed():
    tables = method_tables(
        [
            *run_lines("a", 1, 0.9, seconds=8.0, host="here"),
            *run_lines("b", 1, 0.9, seconds=2.0, host="there"),
            *run_lines("c", 1, 0.9, seconds=1.0, host="here"),
            *run_lines("a", 1, 0.9, method="oc/rd", seconds=4.0, host="here"),
            *run_lines("b", 1, 0.9, method="oc/rd", seconds=8.0, host="there"),
            *run_lines("c", 1, 0.9, method="oc/rd", seconds=90.0, host="there"),
        ]
    )
    found = {(r.host, r.n_runs, r.ratio) for r in time_ratios(tables[1:], tables[0])}
    assert found == {("here", 1, 0.5), ("there", 1, 4.0)}


def test_the_papers_ratio_is_to_the_same_method():
    lines = [
        *run_lines("a", 1, 0.9, seconds=1.0),
        *run_lines("a", 1, 0.9, method="oc-nce/ab", seconds=2.0),
        *run_lines("a", 1, 0.9, method="trees/mix", seconds=1.0),
    ]
    imboost, nce, trees = method_tables(lines)
    [to_imboost] = time_ratios([nce], imboost)
    assert to_imboost.paper == pytest.approx(6900.44 / 4484.17)
    [to_trees] = time_ratios([nce], trees)
    assert to_trees.paper is None
