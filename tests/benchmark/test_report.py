import csv
import re

import pytest

from imboost.benchmark import ResultFile
from imboost.benchmark.comparison import mean_interval
from imboost.benchmark.report import write_report
from imboost.benchmark.report.figures import time_panel
from imboost.benchmark.report.study import FAMILY_ORDER, Study
from imboost.errors import ResultsError, UnknownNameError
from imboost.reporting.canvas import COLOURS
from page_reading import markdown_tables, outside_addresses, tags
from result_lines import run_lines, trouble_line

SETS = {"thyroid": 0.912, "wine": 0.987, "cardio": 0.9, "MVTec-AD_bottle": 0.7, "own": 0.5}
LIMIT = "over the time limit of 600 s"


def lines_of(method, shift=0.0, names=SETS, **others):
    """Return the runs of a method that lies `shift` above the figures of `SETS`."""
    return [
        line
        for name in names
        for seed, noise in ((100, 0.01), (200, -0.01))
        for line in run_lines(
            name,
            seed,
            0.4,
            SETS[name] + shift + noise,
            method=method,
            group=name.split("_")[0],
            **others,
        )
    ]


LINES = [
    *lines_of("imboost/mm"),
    *lines_of("imboost/rd", -0.1),
    *lines_of("oc-nce/ab", -0.2, seconds=3.0),
    *lines_of("trees/mix", 0.005, names=[name for name in SETS if name != "cardio"]),
    *(trouble_line("cardio", seed, "skipped", LIMIT, method="trees/mix") for seed in (100, 200)),
    trouble_line("pima", 100, "failed", "DataError: <b>bad</b> & broken"),
    *lines_of("imboost/mm", -0.3, settings="inlier_weight=0"),
    *lines_of("imboost/mm", -0.05, oracle_noise=0.1, version="0.9"),
]


def report_on(folder, lines):
    ResultFile(folder / "results.csv").append(lines)
    written = write_report(folder)
    assert written == [folder / "report.html", folder / "report.md", folder / "tables"]
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder of a report on four methods, an ablation, a noisy oracle and some trouble."""
    return report_on(tmp_path_factory.mktemp("report"), LINES)


@pytest.fixture(scope="module")
def page(report):
    return (report / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def markdown(report):
    return (report / "report.md").read_text(encoding="utf-8")


def sheet(folder, name):
    """Return a table of the report by the first cell of its rows."""
    with (folder / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
        return {next(iter(row.values())): row for row in csv.DictReader(file)}


def words_of(page):
    """Return the text of a page, without its figures and tables."""
    bare = re.sub(r"<(svg|style|table).*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", bare).split())


def test_the_page_loads_nothing_from_outside(page):
    assert outside_addresses(page) == []
    assert not {"script", "link", "img"} & set(tags(page))
    assert "@import" not in page
    assert set(re.findall(r"url\(\s*[\"']?(.)", page)) <= {"#"}


def test_the_page_holds_every_figure(page):
    # Means, differences, ranks, queries, families, settings with times, and sets.
    assert tags(page).count("svg") == 7


def test_the_page_opens_with_what_was_found(page):
    words = words_of(page)
    # Without cardio, 0.005 above imboost/mm's (0.912 + 0.987 + 0.7 + 0.5) / 4.
    assert "Over the 4 data sets that all 4 methods have, trees/mix has the highest mean" in words
    assert "test AUC, 0.780" in words
    assert "imboost/mm reaches 0.775 and is number 2 of 4 by mean rank (2.0)" in words
    assert "1 of the 3 other methods is better than imboost/mm, 2 worse, and 0 not" in words


def test_the_page_says_that_the_results_are_of_several_versions(page):
    assert "versions 1.0 (48 runs), 0.9 (10 runs)" in words_of(page)
    assert "Runs of several versions of the package" in words_of(page)


def test_the_summary_is_sorted_and_compares_on_shared_sets_alone(report):
    summary = sheet(report, "summary")
    assert list(summary) == ["trees/mix", "imboost/mm", "imboost/rd", "oc-nce/ab"]
    row = summary["imboost/mm"]
    assert (row["sets"], row["seeds"]) == ("5", "2")
    assert float(row["test AUC"]) == pytest.approx((0.912 + 0.987 + 0.7 + 0.5) / 4, abs=1e-5)
    # The paper has no set called own.
    assert float(row["paper AUC"]) == pytest.approx((0.970 + 0.994 + 0.762) / 3, abs=1e-5)
    assert float(row["AUC difference"]) == pytest.approx((-0.058 - 0.007 - 0.062) / 3, abs=1e-5)
    assert float(row["AUC, tables"]) == pytest.approx((0.912 + 0.987 + 0.5) / 3, abs=1e-5)
    assert float(row["AUC, embeddings"]) == pytest.approx(0.7)
    assert (summary["trees/mix"]["wins"], summary["trees/mix"]["paper AUC"]) == ("4", "")
    assert summary["oc-nce/ab"]["AUC against imboost/mm"] == "worse"


def test_figures_of_all_sets_stand_in_the_table_and_below_it_those_of_the_shared(report):
    table = sheet(report, "c4_test_auc")
    assert list(table)[:5] == ["cardio *", "own", "thyroid", "wine", "MVTec-AD"]
    assert table["cardio *"]["trees/mix"] == ""
    assert table["thyroid"]["imboost/mm"] == "0.912"
    assert table["mean rank"]["imboost/mm"] == "2"
    assert float(table["deviation over seeds"]["imboost/mm"]) == pytest.approx(0.0141421)


def test_differences_to_the_paper_stand_in_a_table_of_their_own(report):
    table = sheet(report, "c4_test_auc_minus_paper")
    assert list(table["thyroid"]) == ["data set", "imboost/mm", "oc-nce/ab"]
    assert float(table["thyroid"]["imboost/mm"]) == pytest.approx(0.912 - 0.970)
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


def test_differences_have_intervals_and_a_verdict(report):
    row = sheet(report, "paired_differences")["imboost/rd"]
    assert (row["sets"], row["difference"], row["so it is"]) == ("5", "-0.1", "worse")
    assert float(row["95 % from"]) <= -0.1 <= float(row["to"])


def test_methods_are_compared_with_the_one_that_is_named(tmp_path):
    ResultFile(tmp_path / "results.csv").append(LINES)
    write_report(tmp_path, against="oc-nce/ab")
    assert sheet(tmp_path, "summary")["imboost/mm"]["AUC against oc-nce/ab"] == "better"
    gains = sheet(tmp_path, "paired_differences")
    assert list(gains) == ["trees/mix", "imboost/mm", "imboost/rd"]
    assert float(gains["imboost/mm"]["difference"]) == pytest.approx(0.2)
    assert "seconds of oc-nce/ab" in sheet(tmp_path, "c13_running_times")["imboost/mm"]
    for name in ("report.html", "report.md"):
        words = words_of((tmp_path / name).read_text(encoding="utf-8"))
        assert "3 of the 3 other methods are better than oc-nce/ab" in words
        assert "minus that of oc-nce/ab" in words
        assert "minus that of imboost/mm" not in words


@pytest.mark.parametrize(
    ("against", "others", "name"),
    [
        ("trees", {}, "trees/mix"),
        ("oc/rd", {"budget": "20rows"}, "oc/rd · budget 20rows"),
        ("oc/rd · epochs=5", {"settings": "epochs=5"}, "oc/rd · epochs=5"),
        (None, {}, "imboost/mm"),
        (None, {"budget": "20rows"}, "imboost/mm · budget 20rows"),
    ],
)
def test_the_reference_is_found_by_its_short_name_too(against, others, name):
    methods = ("trees/mix", "oc/rd", "imboost/mm")
    lines = [line for m in methods for line in run_lines("wine", 1, 0.9, method=m, **others)]
    assert Study(lines, against).reference.name == name


@pytest.mark.parametrize(
    ("against", "told"),
    [
        ("oc-nce/av", "Unknown compared method 'oc-nce/av'. Did you mean 'oc-nce/ab'?"),
        ("aad", "Unknown compared method 'aad/rd'."),
        ("tree", "Unknown detector 'tree'. Did you mean 'trees'?"),
    ],
)
def test_a_reference_that_is_not_compared_is_an_error_before_anything_is_written(
    tmp_path, against, told
):
    ResultFile(tmp_path / "results.csv").append(LINES)
    with pytest.raises(UnknownNameError, match=re.escape(told)):
        write_report(tmp_path, against)
    assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]


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
def test_every_round_is_a_mean_over_the_shared_sets(tmp_path, metric, share):
    report_on(tmp_path, ROUNDS)
    row = sheet(tmp_path, f"round_by_round_{metric}")["imboost/mm · 2 rounds"]
    assert list(row)[1:] == ["round 0", "round 1", "round 2", "mean of rounds 1 to 2"]
    # Set a has 0.7 after round 1, the mean of its seeds.
    expected = [0.5, (0.7 + 0.9) / 2, (0.8 + 1.0) / 2, (0.75 + 0.95) / 2]
    found = [float(value) for value in list(row.values())[1:]]
    assert found == pytest.approx([share * figure for figure in expected])


def test_every_round_has_the_reference_minus_the_others_with_its_interval(tmp_path):
    report_on(tmp_path, ROUNDS)
    [row] = sheet(tmp_path, "round_by_round_auc_differences").values()
    assert row["imboost/mm · 2 rounds minus"] == "oc/rd · 2 rounds"
    expected = {
        "round 0": (0.1, 0.0),
        "round 1": (0.2, 0.4),
        "round 2": (0.2, 0.4),
        "mean of rounds 1 to 2": (0.2, 0.4),
    }
    assert row["sets"] == "2"
    for name, sample in expected.items():
        interval = mean_interval(sample)
        assert float(row[name]) == pytest.approx(interval.mean)
        assert float(row[f"± {name}"]) == pytest.approx(interval.mean - interval.low, rel=1e-4)


def test_rounds_that_some_runs_lack_are_left_out(report):
    row = sheet(report, "round_by_round_auc")["imboost/mm"]
    assert list(row) == ["method", "round 4", "round 5", "mean of rounds 4 to 5"]
    assert row["round 5"] == sheet(report, "summary")["imboost/mm"]["test AUC"]


def test_one_method_alone_has_rounds_but_no_differences(tmp_path):
    report_on(tmp_path, SMALL["one run"])
    assert sheet(tmp_path, "round_by_round_ap")
    assert not (tmp_path / "tables" / "round_by_round_ap_differences.csv").exists()


def test_families_of_a_report_have_different_colours():
    assert len(FAMILY_ORDER) <= len(COLOURS)


def test_queries_stand_beside_the_paper_round_by_round(report):
    with (report / "tables" / "c6_c7_queries.csv").open(encoding="utf-8") as file:
        rows = {(row["query"], row["round"]): row for row in csv.DictReader(file)}
    assert rows["mm", "5"]["test AUC"] == "0.7998"
    assert (rows["mm", "5"]["paper"], rows["mm", "5"]["± seeds, paper"]) == ("0.847", "0.031")
    assert rows["rd", "4"]["test AUC"] == "0.4"


def test_an_ablation_has_a_table_and_is_no_method_of_the_summary(report):
    table = sheet(report, "c8_lambda1")
    assert float(table["0"]["minus default"]) == pytest.approx(-0.3)
    assert (table["2"]["paper"], table["10"]["test AUC"]) == ("0.847", "")


def test_running_times_are_ratios_to_imboost(report):
    times = sheet(report, "c13_running_times")
    assert (times["oc-nce/ab"]["ratio"], times["oc-nce/ab"]["runs"]) == ("3", "10")
    assert float(times["oc-nce/ab"]["paper"]) == pytest.approx(1.53885, abs=1e-4)


def test_a_noisy_oracle_is_compared_with_the_honest_one(report):
    row = sheet(report, "other_protocols")["imboost/mm · noise 0.1"]
    assert float(row["difference to the main protocol"]) == pytest.approx(-0.05)


def test_sets_left_out_are_named_with_the_methods_and_the_reason(report):
    assert sheet(report, "left_out")["cardio"]["skipped"] == "trees/mix"


def test_runs_without_a_result_are_shown_with_their_reason_as_text(page, markdown):
    assert "58 finished runs · 1 failed · 2 skipped" in page
    assert "&lt;b&gt;bad&lt;/b&gt; &amp; broken" in page
    assert "trees/mix on cardio (seeds 100, 200)" in page
    assert "&lt;b>bad&lt;/b> &amp; broken" in markdown


def test_every_markdown_table_has_a_rule_and_rows_of_one_width(markdown):
    tables = markdown_tables(markdown)
    # Summary, differences, 4 by round, queries, one ablation, times, 4 and 4 of all sets, one
    # method's sets, protocols, sets left out, runs without a result.
    assert len(tables) == 21
    for header, rule, *rows in tables:
        assert set(rule) == {"---"}
        assert rows
        assert {len(row) for row in (header, rule, *rows)} == {len(header)}


def test_markdown_shows_the_same_figures_as_the_sheets(report, markdown):
    header, _, *rows = markdown_tables(markdown)[0]
    found = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    for name, row in sheet(report, "summary").items():
        assert float(found[name]["test AUC"]) == pytest.approx(float(row["test AUC"]), abs=5e-4)


def test_every_sheet_reads_back_with_columns_of_different_names(report):
    sheets = sorted((report / "tables").glob("*.csv"))
    assert len(sheets) == 22  # the tables of the page, and all figures
    for path in sheets:
        with path.open(encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        assert len(set(header)) == len(header)
        assert rows
        assert {len(row) for row in rows} == {len(header)}


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
def test_small_and_odd_results_have_a_report_too(tmp_path, lines):
    report_on(tmp_path, lines)
    words = words_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "nan" not in words.split()
    assert sheet(tmp_path, "summary")


def test_one_seed_has_a_dash_for_its_deviation(tmp_path):
    report_on(tmp_path, SMALL["one run"])
    assert sheet(tmp_path, "set_by_set")["thyroid"]["AUC ± seeds"] == ""


def test_a_report_without_results_says_what_to_run_first(tmp_path):
    with pytest.raises(ResultsError, match="Run 'imboost bench run' first"):
        write_report(tmp_path)


def test_a_report_on_failures_alone_gives_their_reason(tmp_path):
    ResultFile(tmp_path / "results.csv").append([trouble_line("pima", 1, "failed", "DataError")])
    with pytest.raises(ResultsError, match=r"no finished run\. Of 1 run none went well: DataErr"):
        write_report(tmp_path)


def write_results(folder, lines):
    file = ResultFile(folder / "results.csv")
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


def test_uneven_seeds_are_told(tmp_path):
    lines = [
        *run_lines("wine", 1, 0.9),
        *run_lines("wine", 2, 0.9),
        *run_lines("wine", 1, 0.6, method="oc/rd"),
    ]
    write_results(tmp_path, lines)
    assert "fewer seeds" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_times_of_several_machines_are_told_apart(tmp_path):
    lines = []
    for name, host in (("wine", "here"), ("WBC", "there")):
        lines += run_lines(name, 1, 0.9, host=host, seconds=2.0)
        lines += run_lines(name, 1, 0.8, method="oc/rd", host=host, seconds=8.0)
    write_results(tmp_path, lines)
    with (tmp_path / "tables" / "c13_running_times.csv").open(encoding="utf-8", newline="") as f:
        rows = [row for row in csv.DictReader(f) if row["method"] == "oc/rd"]
    assert [(row["machine"], float(row["ratio"])) for row in rows] == [("here", 4), ("there", 4)]


def test_the_time_panel_shows_the_machine_with_the_most_runs():
    lines = []
    for name, host in (("wine", "here"), ("WBC", "there"), ("Pima", "there")):
        seconds = 2.0 if host == "here" else 6.0
        lines += run_lines(name, 1, 0.9, host=host, seconds=1.0)
        lines += run_lines(name, 1, 0.8, method="oc/rd", host=host, seconds=seconds)
    panel = time_panel(Study(lines))
    assert panel.values == {"imboost/mm": 1.0, "oc/rd": 6.0}
