from imboost.benchmark.analysis.coverage import find_coverage, find_troubles
from imboost.benchmark.analysis.method_tables import method_tables
from result_lines import run_lines, trouble_line


def coverage_of(lines):
    return find_coverage(method_tables(lines), lines)


def test_only_sets_that_all_methods_have_are_shared_and_the_others_have_a_reason():
    lines = [
        *(li for name in "abcde" for li in run_lines(name, 1, 0.9)),
        *(li for name in "ab" for li in run_lines(name, 1, 0.8, method="oc/rd")),
        *run_lines("c", 1, 0.8, method="oc/rd"),
        trouble_line("d", 1, "skipped", "over the time limit of 9 s", method="oc/rd"),
        trouble_line("e", 1, "failed", "ValueError: no", method="oc/rd"),
        *(li for name in "bcde" for li in run_lines(name, 1, 0.8, method="sb/rd")),
    ]
    coverage = coverage_of(lines)
    assert coverage.shared == ["b", "c"]
    assert {gap.group: gap.lacking for gap in coverage.gaps} == {
        "a": {"not run": ["sb/rd"]},
        "d": {"skipped": ["oc/rd"]},
        "e": {"failed": ["oc/rd"]},
    }


def test_a_set_of_which_a_method_lacks_a_part_is_not_shared():
    lines = [
        *run_lines("wine", 1, 0.9),
        *run_lines("I_x", 1, 0.9, group="I"),
        *run_lines("I_y", 1, 0.9, group="I"),
        *run_lines("wine", 1, 0.9, method="oc/rd"),
        *run_lines("I_x", 1, 0.9, group="I", method="oc/rd"),
    ]
    coverage = coverage_of(lines)
    assert coverage.shared == ["wine"]
    assert coverage.gaps[0].lacking == {"not run": ["oc/rd"]}


def test_parts_that_no_method_has_are_not_missed():
    lines = [
        *run_lines("I_x", 1, 0.9, group="I"),
        *run_lines("I_x", 1, 0.9, group="I", method="oc/rd"),
    ]
    assert coverage_of(lines).shared == ["I"]


def test_a_seed_that_failed_costs_no_set():
    lines = [
        *run_lines("a", 1, 0.9),
        *run_lines("a", 2, 0.9),
        *run_lines("a", 1, 0.9, method="oc/rd"),
        trouble_line("a", 2, "failed", "no", method="oc/rd"),
    ]
    assert coverage_of(lines).shared == ["a"]


def test_a_method_with_few_sets_is_not_ranked_and_costs_the_others_none():
    lines = [
        *(li for name in "abcde" for li in run_lines(name, 1, 0.9)),
        *(li for name in "ab" for li in run_lines(name, 1, 0.9, method="oc/rd")),
    ]
    coverage = coverage_of(lines)
    assert [table.name for table in coverage.too_few] == ["oc/rd"]
    assert coverage.shared == list("abcde")


def test_runs_with_the_same_reason_are_one_line_methods_with_the_same_sets_together():
    limit = "over the time limit of 600 s"
    lines = [
        trouble_line(name, 100, "skipped", limit, method=method)
        for method in ("oc/rd", "oc/hc")
        for name in ("skin", "Cover")
    ]
    lines += [trouble_line("skin", 100, "skipped", limit, method="xgbod/rd")]
    lines += [trouble_line("wine", seed, "failed", "ValueError: no") for seed in (200, 100)]
    first, second = find_troubles([*lines, *run_lines("wine", 1, 0.9)])
    assert (first.status, first.reason, first.n_runs) == ("skipped", limit, 5)
    assert first.where == ["oc/rd, oc/hc on Cover, skin (seed 100)", "xgbod/rd on skin (seed 100)"]
    assert second.where == ["imboost/mm on wine (seeds 100, 200)"]
