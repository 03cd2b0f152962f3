"""The method that others are compared with."""

import re

import pytest

from imboost.errors import UnknownNameError
from imboost_bench.analysis.method_key import FAMILY_ORDER
from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.report import write_report
from imboost_bench.report.charts import COLOURS
from imboost_bench.run.protocol import RoundResult
from imboost_bench.run.results import ResultFile
from report_making import LINES, csv_table, text_of
from result_lines import run_lines


def test_methods_are_compared_with_the_one_that_is_named(tmp_path):
    ResultFile(tmp_path / "results.csv", RoundResult).append(LINES)
    write_report(tmp_path, against="oc-nce/ab")
    assert csv_table(tmp_path, "summary")["imboost/mm"]["AUC vs oc-nce/ab"] == "better"
    gains = csv_table(tmp_path, "paired_differences")
    assert list(gains) == ["trees/mix", "imboost/mm", "imboost/rd"]
    assert float(gains["imboost/mm"]["difference"]) == pytest.approx(0.2)
    assert "seconds of oc-nce/ab" in csv_table(tmp_path, "c13_running_times")["imboost/mm"]
    for name in ("report.html", "report.md"):
        text = text_of((tmp_path / name).read_text(encoding="utf-8"))
        assert "3 of the 3 other methods are better than oc-nce/ab" in text
        assert "minus that of oc-nce/ab" in text
        assert "minus that of imboost/mm" not in text


@pytest.mark.parametrize(
    ("against", "others", "name"),
    [
        ("trees", {}, "trees/mix"),
        ("oc/rd", {"budget": "20rows"}, "oc/rd"),
        ("oc/rd · epochs=5", {"settings": "epochs=5"}, "oc/rd · epochs=5"),
        (None, {}, "imboost/mm"),
        (None, {"budget": "20rows"}, "imboost/mm"),
    ],
)
def test_the_reference_is_found_by_its_short_name_too(against, others, name):
    methods = ("trees/mix", "oc/rd", "imboost/mm")
    lines = [line for m in methods for line in run_lines("wine", 1, 0.9, method=m, **others)]
    assert ResultSet(lines, against).reference == name


def test_the_protocol_is_in_the_names_only_if_runs_differ_in_it():
    twenty = run_lines("wine", 1, 0.9, method="oc/rd", budget="20rows")
    assert set(ResultSet(twenty).keys) == {"oc/rd"}
    both = [*twenty, *run_lines("wine", 1, 0.9, method="oc/rd")]
    assert set(ResultSet(both).keys) == {"oc/rd", "oc/rd · budget 20rows"}


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("oc-nce/av", "Unknown compared method 'oc-nce/av'. Did you mean 'oc-nce/ab'?"),
        ("aad", "Unknown compared method 'aad/rd'."),
        ("tree", "Unknown detector 'tree'. Did you mean 'trees'?"),
    ],
)
def test_a_reference_that_is_not_compared_is_an_error_before_anything_is_written(
    tmp_path, against, message
):
    ResultFile(tmp_path / "results.csv", RoundResult).append(LINES)
    with pytest.raises(UnknownNameError, match=re.escape(message)):
        write_report(tmp_path, against)
    assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]


def test_families_of_a_report_have_different_colours():
    assert len(FAMILY_ORDER) <= len(COLOURS)
