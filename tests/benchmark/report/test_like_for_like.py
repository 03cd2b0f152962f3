"""Cells whose rows differ from the paper's, and runs under its protocol."""

import pytest

from adbench_folder import write_planted
from imboost.benchmark.report import write_report
from report_making import csv_table, report_on, text_of
from result_lines import run_lines

PAPER_ROWS = {"outlier_share": "paper", "split": "random"}
PARTS = [f"MVTec-AD_{number}" for number in range(15)]


def lines_of(names, auc, **others):
    return [
        line
        for name in names
        for line in run_lines(name, 100, auc, group=name.split("_")[0], **others)
    ]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Runs on the whole files, and some under the paper's protocol."""
    lines = lines_of(["wine", "mnist", "thyroid", *PARTS], 0.9)
    lines += lines_of(["wine", "thyroid"], 0.8, **PAPER_ROWS)
    return report_on(tmp_path_factory.mktemp("both"), lines)


@pytest.fixture(scope="module")
def alike(tmp_path_factory):
    """Runs under the paper's protocol alone."""
    lines = lines_of(["wine", "mnist", "thyroid", *PARTS], 0.9, **PAPER_ROWS)
    return report_on(tmp_path_factory.mktemp("alike"), lines)


def test_data_sets_with_other_rows_are_marked_with_the_reason(both):
    names = list(csv_table(both, "c4_test_auc"))[:4]
    assert names == ["mnist †", "thyroid †", "wine", "MVTec-AD (15 parts) †"]
    text = text_of((both / "report.html").read_text(encoding="utf-8"))
    assert "Splits are stratified here and random in the paper." in text
    assert (
        "† Not like for like, since the rows differ from the paper's: mnist (another data set in "
        "the paper); thyroid (outliers up to 2% in the paper, all here); MVTec-AD (outliers up to "
        "5% in the paper, all here)."
    ) in text


def test_the_papers_mean_is_also_given_on_the_same_rows(both):
    text = text_of((both / "report.html").read_text(encoding="utf-8"))
    assert "On the 1 data set of these with the same rows as in the paper: 0.900, 0.994." in text


def test_runs_on_other_rows_do_not_mix(both):
    assert csv_table(both, "c4_test_auc")["thyroid †"]["imboost/mm"] == "0.9"
    other = csv_table(both, "other_protocols")["imboost/mm · outlier share paper · random split"]
    assert float(other["difference to the main protocol"]) == pytest.approx(-0.1)
    assert float(other["paper AUC"]) == pytest.approx((0.994 + 0.970) / 2)


def test_under_the_papers_protocol_only_mnist_is_marked(alike):
    table = csv_table(alike, "c4_test_auc_minus_paper")
    assert list(table)[:4] == ["mnist †", "thyroid", "wine", "MVTec-AD (15 parts)"]
    assert float(table["thyroid"].popitem()[1]) == pytest.approx(0.9 - 0.970)
    text = text_of((alike / "report.html").read_text(encoding="utf-8"))
    assert "Outliers are limited to their fraction in the paper's runs." in text
    assert "Splits are random, as in the paper." in text
    assert "use other questions than the paper" not in text


def test_a_report_with_the_data_has_table_c1(tmp_path):
    report_on(tmp_path, run_lines("wine", 100, 0.9))
    write_report(tmp_path, data=write_planted(tmp_path / "data", "wine", n_rows=80))
    assert csv_table(tmp_path, "c1_data_sets")["wine"]["paper's rows"] == "129"
    assert "Table C.1" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "## Table C.1" in (tmp_path / "report.md").read_text(encoding="utf-8")
