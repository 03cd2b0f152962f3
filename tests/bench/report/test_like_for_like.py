"""Cells whose rows differ from the paper's, and runs under its protocol."""

import pytest

from adbench_folder import write_planted
from imboost_bench.analysis.result_set import ResultSet
from imboost_bench.paper import paper_figures
from imboost_bench.report import write_report
from imboost_bench.report.figures import mean_marks
from imboost_bench.run.protocol import RoundResult
from imboost_bench.run.results import ResultFile
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


def test_means_are_compared_with_the_paper_like_for_like(both):
    row = csv_table(both, "summary")["imboost/mm"]
    assert float(row["test AUC"]) == pytest.approx(0.9)
    assert float(row["paper AUC"]) == pytest.approx(0.994)  # wine alone
    assert float(row["AUC difference"]) == pytest.approx(0.9 - 0.994)
    means = csv_table(both, "c4_test_auc")
    assert float(means["mean in the paper, like for like"]["imboost/mm"]) == pytest.approx(0.994)
    assert float(means["mean, like for like"]["imboost/mm"]) == pytest.approx(0.9)
    last = csv_table(both, "c4_test_auc_minus_paper")["mean, like for like"]
    assert float(last["imboost/mm"]) == pytest.approx(0.9 - 0.994)
    text = text_of((both / "report.html").read_text(encoding="utf-8"))
    assert "are over the 1 data set of these with the same rows in the paper" in text
    assert "at its difference from this one over the 1 data set with the same rows" in text
    assert "Means that are compared with the paper's leave these data sets out." in text


def test_rings_have_the_difference_over_the_papers_rows(both):
    lines = ResultFile(both / "results.csv", RoundResult).read()
    first = mean_marks(ResultSet(lines)).iloc[0]
    assert first["reference"] == pytest.approx(first["value"] - (0.9 - 0.994))


def test_without_the_papers_rows_means_are_compared_and_the_note_says_so(tmp_path):
    report_on(tmp_path, lines_of(["mnist", "thyroid"], 0.9))
    row = csv_table(tmp_path, "summary")["imboost/mm"]
    paper = [paper_figures("test_auc", "IMBoost")[name] for name in ("mnist", "thyroid")]
    assert float(row["paper AUC"]) == pytest.approx(sum(paper) / 2)
    text = text_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "The paper's means are not like for like" in text
    assert "On the 0 data sets" not in text


def test_rows_that_are_all_the_papers_have_one_mean(tmp_path):
    report_on(tmp_path, lines_of(["wine", "cardio"], 0.9))
    means = csv_table(tmp_path, "c4_test_auc")
    assert "mean, like for like" not in means
    assert means["mean"]["imboost/mm"] == "0.9"
    text = text_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "So are the paper's means." in text
    assert "with the same rows as in the paper:" not in text


def test_runs_on_other_rows_do_not_mix(both):
    assert csv_table(both, "c4_test_auc")["thyroid †"]["imboost/mm"] == "0.9"
    other = csv_table(both, "other_protocols")["imboost/mm · outlier share paper · random split"]
    assert float(other["difference to the main protocol"]) == pytest.approx(-0.1)
    assert float(other["paper AUC"]) == pytest.approx((0.994 + 0.970) / 2)
    assert float(other["AUC difference"]) == pytest.approx(0.8 - (0.994 + 0.970) / 2)


def test_other_protocols_leave_out_data_that_the_paper_does_not_have(tmp_path):
    lines = lines_of(["wine", "cardio"], 0.9)
    lines += lines_of(["wine", "mnist"], 0.8, method="oc-nce/ab", **PAPER_ROWS)
    lines += lines_of(["wine"], 0.8, method="trees/mix", **PAPER_ROWS)
    table = csv_table(report_on(tmp_path, lines), "other_protocols")
    row = table["oc-nce/ab · outlier share paper · random split"]
    assert float(row["paper AUC"]) == pytest.approx(paper_figures("test_auc", "OC-NCE+AB")["wine"])
    assert (row["data sets"], row["difference to the main protocol"]) == ("2", "")
    row = table["trees/mix · outlier share paper · random split"]
    assert (row["data sets"], row["paper AUC"]) == ("1", "")


def test_protocols_that_the_paper_lacks_have_no_column_of_the_paper(report):
    [row] = csv_table(report, "other_protocols").values()
    assert not {"paper AUC", "AUC difference"} & row.keys()


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
    assert "raw MNIST" not in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_table_c1_explains_why_mnist_is_another_data_set(tmp_path):
    report_on(tmp_path, run_lines("wine", 100, 0.9))
    write_report(tmp_path, data=write_planted(tmp_path / "data", "mnist", n_rows=80))
    for name in ("report.html", "report.md"):
        assert "runs use raw MNIST with 10% outliers." in (tmp_path / name).read_text("utf-8")
