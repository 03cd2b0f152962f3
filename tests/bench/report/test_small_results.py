"""Reports on few, uneven or failed runs."""

import csv

import pytest

from imboost_bench.report import write_report
from imboost_bench.run.protocol import RoundResult
from imboost_bench.run.results import ResultFile, ResultsError
from report_making import csv_table, lines_of, report_on, text_of
from result_lines import failed_line, run_lines

SMALL = {
    "one run": run_lines("thyroid", 100, 0.4, 0.9),
    "one run without rounds": run_lines("thyroid", 100, 0.4, rounds=0),
    "one method the paper does not have": lines_of("trees/mix"),
    "one set": [*lines_of("imboost/mm", names=["wine"]), *lines_of("oc/rd", names=["wine"])],
    "no set in common": [*run_lines("a", 1, 0.9), *run_lines("b", 1, 0.9, method="oc/rd")],
    "all alike": [li for m in ("imboost/mm", "oc/rd", "sb/rd") for li in lines_of(m)],
    "ablations alone": lines_of("imboost/mm", settings="inlier_weight=0"),
    "another protocol alone": lines_of("imboost/mm", budget="20rows"),
    "old lines without a device": lines_of("imboost/mm", device="", version=""),
    "no time measured": [*lines_of("imboost/mm", seconds=0.0), *lines_of("oc/rd", seconds=0.0)],
    "parts of a set that others lack": [
        *run_lines("I_x", 1, 0.9, group="I"),
        *run_lines("I_y", 1, 0.9, group="I"),
        *run_lines("I_x", 1, 0.8, group="I", method="oc/rd"),
    ],
}


@pytest.mark.parametrize("lines", SMALL.values(), ids=SMALL)
def test_small_and_uneven_results_have_a_report(tmp_path, lines):
    report_on(tmp_path, lines)
    text = text_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "nan" not in text.split()
    assert csv_table(tmp_path, "summary")


def test_one_seed_has_no_std(tmp_path):
    report_on(tmp_path, SMALL["one run"])
    assert csv_table(tmp_path, "all_figures")["imboost/mm"]["std"] == ""


def test_a_report_without_results_says_what_to_run_first(tmp_path):
    with pytest.raises(ResultsError, match="Run 'imboost-bench run' first"):
        write_report(tmp_path)


def test_a_report_on_failures_alone_gives_their_reason(tmp_path):
    ResultFile(tmp_path / "results.csv", RoundResult).append(
        [failed_line("pima", 1, "failed", "DataError")]
    )
    with pytest.raises(ResultsError, match=r"no finished run\. 1 run failed or .*: DataError"):
        write_report(tmp_path)


def write_results(folder, lines):
    file = ResultFile(folder / "results.csv", RoundResult)
    for line in lines:
        file.append([line])
    return write_report(folder)


def test_a_later_report_leaves_no_table_of_an_earlier_one(tmp_path):
    plain = run_lines("wine", 1, 0.9)
    write_results(tmp_path, [*plain, *run_lines("wine", 1, 0.8, oracle_noise=0.1)])
    assert (tmp_path / "tables" / "other_protocols.csv").is_file()
    (tmp_path / "results.csv").unlink()
    write_results(tmp_path, plain)
    assert not (tmp_path / "tables" / "other_protocols.csv").exists()


def test_without_a_shared_set_the_summary_shows_each_methods_own_mean(tmp_path):
    lines = [*run_lines("wine", 1, 0.9), *run_lines("WBC", 1, 0.6, method="oc/rd")]
    write_results(tmp_path, lines)
    with (tmp_path / "tables" / "summary.csv").open(encoding="utf-8", newline="") as file:
        aucs = {row["method"]: float(row["test AUC"]) for row in csv.DictReader(file)}
    assert aucs == {"imboost/mm": 0.9, "oc/rd": 0.6}
    assert "not comparable" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_one_shared_set_is_too_few_to_tell_methods_apart(tmp_path):
    lines = [*run_lines("wine", 1, 0.9), *run_lines("wine", 1, 0.6, method="oc/rd")]
    write_results(tmp_path, lines)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "too few data sets" in text
    assert "not distinguishable" not in text


def test_uneven_seeds_are_mentioned(tmp_path):
    lines = [
        *run_lines("wine", 1, 0.9),
        *run_lines("wine", 2, 0.9),
        *run_lines("wine", 1, 0.6, method="oc/rd"),
    ]
    write_results(tmp_path, lines)
    assert "fewer seeds" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_times_of_several_machines_are_kept_apart(tmp_path):
    lines = []
    for name, host in (("wine", "here"), ("WBC", "there")):
        lines += run_lines(name, 1, 0.9, host=host, seconds=2.0)
        lines += run_lines(name, 1, 0.8, method="oc/rd", host=host, seconds=8.0)
    write_results(tmp_path, lines)
    with (tmp_path / "tables" / "c13_running_times.csv").open(encoding="utf-8", newline="") as f:
        rows = [row for row in csv.DictReader(f) if row["method"] == "oc/rd"]
    assert [(row["machine"], float(row["ratio"])) for row in rows] == [("here", 4), ("there", 4)]
