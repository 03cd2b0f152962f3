import re
from dataclasses import replace

import pytest

from imboost.benchmark import ResultFile, RoundResult
from imboost.benchmark.report import write_report
from imboost.errors import ResultsError
from page_reading import markdown_tables, outside_addresses, tags

SETS = [
    ("thyroid", "thyroid", 0.912),
    ("wine", "wine", 0.987),
    ("MVTec-AD_bottle", "MVTec-AD", 0.743),
    ("MVTec-AD_pill", "MVTec-AD", 0.643),
    ("unheard-of", "unheard-of", 0.555),
]


def runs(query):
    for dataset, group, auc in SETS:
        start = RoundResult("imboost", query, dataset, group, 100, 5, 0, 70, 3, test_auc=0.5)
        yield [start, replace(start, round=5, test_auc=auc, test_ap=0.321, seconds=2.5)]


FAILED = RoundResult(
    "imboost",
    "mm",
    "pima",
    "pima",
    100,
    5,
    -1,
    status="failed",
    reason="DataError: <b>bad</b> & broken",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder of a report on two methods and a failure."""
    folder = tmp_path_factory.mktemp("report")
    file = ResultFile(folder / "results.csv")
    for query in ("mm", "rd"):
        for lines in runs(query):
            file.append(lines)
    file.append([FAILED])
    assert write_report(folder) == [folder / "report.html", folder / "report.md"]
    return folder


@pytest.fixture(scope="module")
def page(report):
    return (report / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def markdown(report):
    return (report / "report.md").read_text(encoding="utf-8")


def cells_of(page, first):
    """Return the cells of the first table row of a page that begins with `first`."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.DOTALL)
    split = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows]
    return next(cells for cells in split if cells and cells[0] == first)


def test_the_page_loads_nothing_from_outside(page):
    assert outside_addresses(page) == []
    assert "script" not in tags(page)
    assert "link" not in tags(page)
    assert "@import" not in page
    assert set(re.findall(r"url\(\s*[\"']?(.)", page)) <= {"#"}


def test_the_page_names_every_set_and_shows_its_figures(page):
    for name, auc in (("thyroid", "0.912"), ("wine", "0.987"), ("unheard-of", "0.555")):
        assert cells_of(page, name)[1] == auc
    assert cells_of(page, "MVTec-AD (2 parts)")[1] == "0.693"


def test_the_page_sets_figures_beside_the_papers(page):
    _, _, _, paper, difference, *_ = cells_of(page, "thyroid")
    assert paper == "0.970"
    assert "-0.058" in difference
    assert 'class="down"' in difference


def test_a_set_the_paper_does_not_have_gets_a_dash(page):
    assert cells_of(page, "unheard-of")[3] == "–"


def test_the_page_draws_curves_bars_and_panels(page):
    # Mean curves, bars of the one method the paper has, and the panels.
    assert tags(page).count("svg") == 3


def test_a_failed_run_is_shown_with_its_reason_as_text(page, markdown):
    assert "10 finished runs, 1 failed" in page
    assert "&lt;b&gt;bad&lt;/b&gt; &amp; broken" in page
    assert "- imboost/mm on pima, seed 100: DataError: <b>bad</b> & broken" in markdown


def test_every_markdown_table_has_a_rule_and_rows_of_one_width(markdown):
    tables = markdown_tables(markdown)
    assert len(tables) == 4
    for header, rule, *rows in tables:
        assert set(rule) == {"---"}
        assert rows
        assert {len(row) for row in (header, rule, *rows)} == {len(header)}


def test_markdown_shows_the_same_figures_as_the_page(page, markdown):
    rows = {row[0]: row for table in markdown_tables(markdown)[2:3] for row in table}
    assert rows["thyroid"][:4] == ["thyroid", "0.912", "–", "0.970"]
    for name in ("thyroid", "wine", "unheard-of"):
        assert rows[name][1] == cells_of(page, name)[1]


def test_the_summary_splits_tables_from_embeddings(markdown):
    summary = {row[0]: row for row in markdown_tables(markdown)[0]}
    assert summary["imboost · mm (tabular)"][1:4] == ["3", "1", "0.818"]
    assert summary["imboost · mm (embeddings)"][1:4] == ["1", "1", "0.693"]
    assert summary["imboost · mm"][1:4] == ["4", "1", "0.787"]


def test_rounds_stand_beside_those_of_the_paper(markdown):
    header, _, *rows = markdown_tables(markdown)[1]
    by_name = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    assert by_name["imboost · mm"]["round 0"] == "0.500"
    assert by_name["imboost · mm"]["round 5"] == "0.787"
    assert by_name["paper · mm"]["round 5"] == "0.847"


def test_a_report_without_results_says_what_to_run_first(tmp_path):
    with pytest.raises(ResultsError, match="Run 'imboost bench run' first"):
        write_report(tmp_path)


def test_a_report_on_failures_alone_gives_their_reason(tmp_path):
    ResultFile(tmp_path / "results.csv").append([FAILED])
    with pytest.raises(ResultsError, match=r"no finished run\. All 1 runs failed: DataError"):
        write_report(tmp_path)
