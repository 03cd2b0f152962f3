from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.report.contents import failure_table
from result_lines import failed_line, run_lines


def coverage_of(lines):
    return ResultSet(lines).coverage


def missing_in(lines):
    return list(coverage_of(lines).missing.itertuples(index=False, name=None))


def test_data_sets_that_a_method_lacks_are_not_shared_and_have_a_reason():
    lines = [
        *(li for name in "abcde" for li in run_lines(name, 1, 0.9)),
        *(li for name in "ab" for li in run_lines(name, 1, 0.8, method="oc/rd")),
        *run_lines("c", 1, 0.8, method="oc/rd"),
        failed_line("d", 1, "skipped", "over the time limit of 9 s", method="oc/rd"),
        failed_line("e", 1, "failed", "ValueError: no", method="oc/rd"),
        *(li for name in "bcde" for li in run_lines(name, 1, 0.8, method="sb/rd")),
    ]
    assert coverage_of(lines).shared == ["b", "c"]
    assert missing_in(lines) == [
        ("a", "sb/rd", "not run"),
        ("d", "oc/rd", "skipped"),
        ("e", "oc/rd", "failed"),
    ]


def test_a_data_set_of_which_a_method_lacks_a_part_is_not_shared():
    lines = [
        *run_lines("wine", 1, 0.9),
        *run_lines("I_x", 1, 0.9, group="I"),
        *run_lines("I_y", 1, 0.9, group="I"),
        *run_lines("wine", 1, 0.9, method="oc/rd"),
        *run_lines("I_x", 1, 0.9, group="I", method="oc/rd"),
    ]
    assert coverage_of(lines).shared == ["wine"]
    assert missing_in(lines) == [("I", "oc/rd", "not run")]


def test_parts_that_no_method_has_are_not_missing():
    lines = [
        *run_lines("I_x", 1, 0.9, group="I"),
        *run_lines("I_x", 1, 0.9, group="I", method="oc/rd"),
    ]
    assert coverage_of(lines).shared == ["I"]


def test_a_data_set_is_shared_although_a_seed_failed():
    lines = [
        *run_lines("a", 1, 0.9),
        *run_lines("a", 2, 0.9),
        *run_lines("a", 1, 0.9, method="oc/rd"),
        failed_line("a", 2, "failed", "no", method="oc/rd"),
    ]
    assert coverage_of(lines).shared == ["a"]


def test_a_method_with_few_data_sets_is_not_ranked_and_leaves_the_shared_ones_alone():
    lines = [
        *(li for name in "abcde" for li in run_lines(name, 1, 0.9)),
        *(li for name in "ab" for li in run_lines(name, 1, 0.9, method="oc/rd")),
    ]
    coverage = coverage_of(lines)
    assert coverage.too_few == {"oc/rd": 2}
    assert coverage.shared == list("abcde")


def test_failed_runs_are_listed_by_reason_the_most_frequent_first():
    lines = [failed_line("wine", 200, "failed", "ValueError: no")]
    lines += [failed_line(name, 100, "skipped", "over 9 s") for name in ("skin", "Cover")]
    table = failure_table(ResultSet([*lines, *run_lines("wine", 1, 0.9)])).frame
    assert list(table.itertuples(index=False, name=None)) == [
        ("skipped", 2, "over 9 s", "imboost/mm on skin, seed 100; imboost/mm on Cover, seed 100"),
        ("failed", 1, "ValueError: no", "imboost/mm on wine, seed 200"),
    ]
