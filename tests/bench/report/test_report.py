"""The page, its tables and its figures."""

import csv
import re

import pytest

from page_reading import markdown_tables, outside_addresses, tags
from report_making import csv_table, lines_of, report_on, text_of


def test_the_page_loads_nothing_from_outside(page):
    assert outside_addresses(page) == []
    assert not {"script", "link", "img"} & set(tags(page))
    assert "@import" not in page
    assert set(re.findall(r"url\(\s*[\"']?(.)", page)) <= {"#"}


def test_the_page_holds_every_figure(page):
    # Means, differences, ranks, queries, families, settings, and sets.
    assert tags(page).count("svg") == 7


def test_the_page_opens_with_the_findings(page):
    text = text_of(page)
    # Without cardio, 0.005 above imboost/mm's (0.912 + 0.987 + 0.7 + 0.5) / 4.
    assert "Over the 4 data sets with results of all 4 methods, trees/mix has the" in text
    assert "highest mean test AUC: 0.780" in text
    assert "has a mean test AUC of 0.775 and is number 2 of 4 by mean rank (2.0)" in text
    assert "1 of the 3 other methods is better than imboost/mm, 2 worse, and 0 not" in text


def test_the_page_says_that_the_results_are_of_several_versions(page):
    assert "versions 1.0 (48 runs), 0.9 (10 runs)" in text_of(page)
    assert "The runs come from several versions of the package" in text_of(page)


def test_the_summary_is_sorted_and_compares_on_shared_sets_alone(report):
    summary = csv_table(report, "summary")
    assert list(summary) == ["trees/mix", "imboost/mm", "imboost/rd", "oc-nce/ab"]
    row = summary["imboost/mm"]
    assert (row["data sets"], row["seeds"]) == ("5", "2")
    assert float(row["test AUC"]) == pytest.approx((0.912 + 0.987 + 0.7 + 0.5) / 4, abs=1e-5)
    # The paper has no set called own, and other rows of thyroid and MVTec-AD.
    assert float(row["paper AUC"]) == pytest.approx(0.994)
    assert float(row["AUC difference"]) == pytest.approx(-0.007)
    assert float(row["AUC, tables"]) == pytest.approx((0.912 + 0.987 + 0.5) / 3, abs=1e-5)
    assert float(row["AUC, embeddings"]) == pytest.approx(0.7)
    assert (summary["trees/mix"]["wins"], summary["trees/mix"]["paper AUC"]) == ("4", "")
    assert summary["oc-nce/ab"]["AUC vs imboost/mm"] == "worse"


def test_a_table_has_all_data_sets_and_summaries_of_the_shared_ones_below(report):
    table = csv_table(report, "c4_test_auc")
    assert list(table)[:5] == ["cardio *", "own", "thyroid †", "wine", "MVTec-AD †"]
    assert table["cardio *"]["trees/mix"] == ""
    assert table["thyroid †"]["imboost/mm"] == "0.912"
    assert table["mean rank"]["imboost/mm"] == "2"
    assert float(table["std over seeds"]["imboost/mm"]) == pytest.approx(0.0141421)


def test_differences_to_the_paper_have_a_table_of_their_own(report):
    table = csv_table(report, "c4_test_auc_minus_paper")
    assert list(table["thyroid †"]) == ["data set", "imboost/mm", "oc-nce/ab"]
    assert float(table["thyroid †"]["imboost/mm"]) == pytest.approx(0.912 - 0.970)
    assert "own" not in table


def test_training_figures_are_compared_with_the_papers_training_tables(report):
    with (report / "tables" / "all_figures.csv").open(encoding="utf-8") as file:
        papers = {
            row["metric"]: row["paper"]
            for row in csv.DictReader(file)
            if row["method"] == "imboost/mm" and row["data set"] == "thyroid"
        }
    assert papers == {
        "test_auc": "0.97",
        "test_ap": "0.582",
        "train_auc": "0.957",
        "train_ap": "0.588",
    }


def test_differences_have_intervals_and_an_outcome(report):
    row = csv_table(report, "paired_differences")["imboost/rd"]
    assert (row["data sets"], row["difference"], row["outcome"]) == ("5", "-0.1", "worse")
    assert float(row["95% CI low"]) <= -0.1 <= float(row["95% CI high"])


def test_queries_are_listed_by_round_with_the_papers_values(report):
    with (report / "tables" / "c6_c7_queries.csv").open(encoding="utf-8") as file:
        rows = {(row["query"], row["round"]): row for row in csv.DictReader(file)}
    assert rows["mm", "5"]["test AUC"] == "0.7998"
    assert (rows["mm", "5"]["paper"], rows["mm", "5"]["paper std"]) == ("0.847", "0.031")
    assert rows["rd", "4"]["test AUC"] == "0.4"


def test_random_first_then_mm_stands_beside_the_papers_figure(tmp_path):
    report_on(tmp_path, [*lines_of("imboost/mm"), *lines_of("imboost/rd-mm", -0.01)])
    with (tmp_path / "tables" / "c6_c7_queries.csv").open(encoding="utf-8") as file:
        rows = {(row["query"], row["round"]): row for row in csv.DictReader(file)}
    assert (rows["rd-mm", "5"]["paper"], rows["rd-mm", "5"]["paper std"]) == ("0.84", "")
    assert rows["rd-mm", "4"]["paper"] == ""


def test_an_ablation_has_a_table_and_is_no_method_of_the_summary(report):
    table = csv_table(report, "c8_lambda1")
    assert float(table["0"]["difference"]) == pytest.approx(-0.3)
    assert (table["2"]["paper"], table["10"]["test AUC"]) == ("0.847", "")


def test_running_times_are_ratios_to_imboost(report):
    times = csv_table(report, "c13_running_times")
    assert (times["oc-nce/ab"]["ratio"], times["oc-nce/ab"]["runs"]) == ("3", "10")
    assert float(times["oc-nce/ab"]["paper"]) == pytest.approx(1.53885, abs=1e-4)


def test_a_noisy_oracle_is_compared_with_the_honest_one(report):
    row = csv_table(report, "other_protocols")["imboost/mm · noise 0.1"]
    assert float(row["difference to the main protocol"]) == pytest.approx(-0.05)


def test_missing_results_are_listed_with_methods_and_reason(report):
    assert csv_table(report, "missing_results")["cardio"]["skipped"] == "trees/mix"


def test_runs_without_a_result_are_shown_with_their_reason_as_text(page, markdown):
    assert "58 finished runs · 1 failed · 2 skipped" in page
    assert "&lt;b&gt;bad&lt;/b&gt; &amp; broken" in page
    assert "trees/mix on cardio, seed 100; trees/mix on cardio, seed 200" in page
    assert "&lt;b>bad&lt;/b> &amp; broken" in markdown


def test_every_markdown_table_has_a_rule_and_rows_of_one_width(markdown):
    tables = markdown_tables(markdown)
    # Summary, differences, 4 by round, worse rounds, queries, one ablation, times, 4 and 4 of all
    # data sets, the reference, protocols, missing results, failed runs.
    assert len(tables) == 21
    for header, rule, *rows in tables:
        assert set(rule) == {"---"}
        assert rows
        assert {len(row) for row in (header, rule, *rows)} == {len(header)}


def test_markdown_shows_the_same_figures_as_the_csv_tables(report, markdown):
    header, _, *rows = markdown_tables(markdown)[0]
    found = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    for name, row in csv_table(report, "summary").items():
        assert float(found[name]["test AUC"]) == pytest.approx(float(row["test AUC"]), abs=5e-4)


def test_every_csv_table_reads_back_with_columns_of_different_names(report):
    paths = sorted((report / "tables").glob("*.csv"))
    assert len(paths) == 22  # the tables of the page, and all figures
    for path in paths:
        with path.open(encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        assert len(set(header)) == len(header)
        assert rows
        assert {len(row) for row in rows} == {len(header)}
