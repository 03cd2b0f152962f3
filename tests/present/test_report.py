"""The report in a browser, and with markup in its table."""

import re
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from browser_pages import accessibility_faults, scrolls_sideways
from conftest import make_quick
from imboost import TableDetector
from imboost.facts import Fact, FactKind
from imboost.present.report import ReportSample, explain_rows, render_report
from imboost.scoring.row_selection import SelectedRows
from page_reading import outside_addresses, tags

HOSTILE = "</script><img src=x onerror=alert(1)>\"'`{{7*7}}"


def make_table(n=300, prefix=""):
    rng = np.random.default_rng(0)
    taxa = rng.choice(["Bird", "Fish"], n).astype(object)
    taxa[:5] = f"{prefix}Reptile"
    size = rng.normal(10, 1, n)
    size[7:10] = [90.0, 100.0, 110.0]
    when = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    columns = {
        "id": [f"{prefix}K{number:04}" for number in range(n)],
        "taxa": pa.array(taxa, pa.string()),
        "size": pa.array([None if row % 50 == 11 else value for row, value in enumerate(size)]),
        "when": when,
        "remark": [
            f"{prefix}long remark about the row number {number} of all" for number in range(n)
        ],
    }
    return pa.table({f"{prefix}{name}": values for name, values in columns.items()})


@cache
def make_page(prefix=""):
    table = make_table(prefix=prefix)
    detector = TableDetector(make_quick("stack"), random_state=0).fit(table)
    sample = ReportSample(n_top=40)
    sample.add(np.arange(table.num_rows), table, detector.decision_scores_)
    return render_report(
        detector,
        f"{prefix}table.csv",
        sample,
        int(detector.labels_.sum()),
        [Fact(kind=FactKind.UNUSED_COLUMN, columns=(f"{prefix}taxa",), value=f"{prefix}changed")],
        [
            {
                "kind": "spellings",
                "message": f"{prefix}message",
                "n_rows": 1,
                "rows": [{"name": f"{prefix}row 1", "value": f"{prefix}value"}],
            }
        ],
    )


def test_markup_in_names_and_cells_stays_text():
    page = make_page(HOSTILE)
    assert tags(page).count("script") == 1
    assert "img" not in tags(page)
    assert HOSTILE not in page
    assert page.count("&lt;/script&gt;&lt;img src=x") > 100
    assert sorted(set(tags(page))) == sorted(set(tags(make_page())))


def test_explained_rows_have_their_scores_probabilities_and_decisions():
    table = make_table()
    detector = TableDetector(make_quick("stack"), random_state=0).fit(table)
    numbers = [8, 200]
    found = explain_rows(detector, SelectedRows(table.take(numbers), numbers, 300), "id")
    assert [row.row for row in found] == numbers
    assert [row.name for row in found] == ["id K0008", "id K0200"]
    expected = detector.decision_scores_[numbers]
    np.testing.assert_allclose([row.score for row in found], expected)
    np.testing.assert_allclose(
        [row.probability for row in found], detector.decision_.probability(expected)
    )
    assert [row.is_outlier for row in found] == (expected > detector.threshold_).tolist()


def test_the_page_has_the_threshold_and_the_mean_contributions_in_order(monkeypatch):
    monkeypatch.setattr("imboost.present.report.render", lambda _, context: context)
    table = make_table()
    detector = TableDetector(make_quick("stack"), random_state=0).fit(table)
    sample = ReportSample(n_top=5)
    sample.add(np.arange(300), table, detector.decision_scores_)
    page = render_report(detector, "table.csv", sample, 3)
    assert page["threshold"] == detector.threshold_
    for name, selected in (("top", sample.top.selected()), ("sample", sample.random.selected())):
        total = dict.fromkeys([line["column"] for line in page["contributions"]], 0.0)
        for explanation in detector.explain(selected.table):
            for reason in explanation.reasons:
                total[reason.column] += reason.contribution / len(selected.numbers)
        found = {line["column"]: line[name] for line in page["contributions"]}
        assert found == pytest.approx(total)
    means = [line["top"] for line in page["contributions"]]
    assert means == sorted(means, reverse=True)


def test_text_that_stands_for_a_missing_value_is_shown_as_missing(monkeypatch):
    monkeypatch.setattr("imboost.present.report.render", lambda _, context: context)
    table = make_table()
    detector = TableDetector(make_quick("stack"), missing_values=["Bird"], random_state=0)
    sample = ReportSample()
    sample.add(np.arange(300), table, detector.fit(table).decision_scores_)
    rows = render_report(detector, "table.csv", sample, 3)["shown"]["rows"]
    shown = {cell.text for row in rows for cell in row.cells if cell.column == "taxa"}
    assert shown == {None, "Fish", "Reptile"}


def test_the_page_names_no_other_host():
    page = make_page()
    assert outside_addresses(page) == []
    assert "http" not in re.sub(r' xmlns(:\w+)?="[^"]*"', "", page)
    assert "url(" not in re.sub(r"url\(#\w+\)", "", page)


def test_every_column_can_be_sorted_and_rows_are_whole():
    page = make_page()
    heads = re.findall(r'<th data-sort="(\d+)"[^>]*>([^<]*)</th>', page.split("</thead>")[0])
    names = ["id", "score", "probability", "prediction", "taxa", "size", "when", "remark"]
    assert heads == [(str(number), name) for number, name in enumerate(names)]
    assert page.count('<tbody class="row">') == 40
    assert len(re.findall(r'<td class="long">long remark [^<]* of all</td>', page)) == 40
    assert len(re.findall(r'data-value="">(<mark>)?<em class="missing">', page)) == page.count(
        'class="missing">'
    )


def test_groups_name_their_reason_and_mark_its_cells():
    page = make_page()
    assert "<b>5 rows</b>: taxa Reptile" in page
    assert "rows</b>: size high, with different values" in page
    assert page.count("<mark>Reptile</mark>") == 5
    assert "<b>taxa</b> is Reptile, in " in page


def test_all_bars_have_one_scale():
    page = make_page()
    bars = re.findall(
        r'<rect width="([\d.]+)" height="6"/></svg><span class="figure">([+\d.]+)</span>', page
    )
    scale = float(re.search(r"a full bar is\s+\+([\d.]+)\.", page)[1])
    assert len(bars) >= 40
    assert max(float(width) for width, _ in bars) == 100
    for width, contribution in bars:
        assert float(width) == pytest.approx(100 * float(contribution) / scale, abs=0.3)


@pytest.fixture
def page(browser, tmp_path):
    (tmp_path / "page.html").write_text(make_page(), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page, faults = context.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"file://{tmp_path}/page.html")
    yield page
    context.close()
    assert faults == []


def shown_cells(page, number):
    script = "(n) => [...document.querySelectorAll('tbody.row')].filter(b => !b.hidden && "
    script += "!b.closest('[hidden]')).map(b => b.rows[0].cells[n].textContent.trim())"
    return page.evaluate(script, number)


def test_rows_are_searched_in_cells_and_reasons(page):
    page.fill("#search", "REPTILE reference")
    assert shown_cells(page, 4) == 5 * ["Reptile"]
    assert page.text_content("#n-found") == "5 of 40 rows"
    assert page.locator("details.group:visible").count() == 1
    page.fill("#search", "")
    assert len(shown_cells(page, 4)) == 40


def test_rows_are_sorted_by_any_column_in_one_list_and_in_groups(page):
    scores = [float(text) for text in shown_cells(page, 1)]
    assert scores[0] == max(scores)
    page.uncheck("#grouped")
    page.locator("th[data-sort='5'] button:visible").click()
    sizes = [text for text in shown_cells(page, 5) if text != "missing"]
    assert len(sizes) == 40 - shown_cells(page, 5).count("missing")
    assert [float(text) for text in sizes] == sorted(float(text) for text in sizes)
    page.click("#direction")
    assert [float(text) for text in shown_cells(page, 5)[:3]] == [110, 100, 90]
    page.select_option("#sort-by", label="id")
    assert shown_cells(page, 0) == sorted(shown_cells(page, 0))
    page.check("#grouped")
    assert len(shown_cells(page, 0)) == 40
    assert page.locator("details.group:visible").count() > 1


def test_the_page_can_be_read_without_javascript(browser, tmp_path):
    (tmp_path / "page.html").write_text(make_page(), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"file://{tmp_path}/page.html")
    assert not page.locator("#tools").is_visible()
    assert page.locator("details.group").first.locator("tbody.row").first.is_visible()
    context.close()


def test_the_page_is_accessible_and_never_scrolls_sideways(page):
    page.click("#fold")
    assert accessibility_faults(page) == []
    assert not scrolls_sideways(page)
