"""The labelling page in a real browser, served by the real program."""

import json
import re
from dataclasses import dataclass

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from browser_pages import accessibility_faults, faultless_page, scrolls_sideways
from imboost.labelling.workspace import Training
from imboost.present.pages import render
from labelling_program import run_labelling, write_orders
from labelling_views import common, panel

N_ROWS, N_FEW_ROWS = 1500, 200
PAGES = ["/", "/suspects", "/rows/0", "/history", "/disagreements", "/results"]
MADE_UP = {
    "training": {"training": Training("training on 1,500 rows", 20.0), "error": ""},
    "error": {"status": 409, "message": "Ada has answered this question already."},
    "question": {"question": None, "panel": panel()},
}
"""Values of templates that are shown only for a moment or after a mistake."""
COLLECT_NOTICES = """() => {
    window.notices = [];
    const notice = document.getElementById("notice");
    const collect = () => notices.push(notice.textContent);
    new MutationObserver(collect).observe(notice, {childList: true});
}"""

WRONG = 4  # outliers that are answered as inliers


@dataclass(frozen=True)
class Opened:
    """A started program: the address of its page and which rows are outliers."""

    address: str
    is_outlier: np.ndarray


@pytest.fixture(scope="module")
def fresh(browser, tmp_path_factory):
    """A program that shows the columns of a small table."""
    path = tmp_path_factory.mktemp("fresh") / "orders.csv"
    is_outlier = write_orders(path, N_FEW_ROWS)
    with run_labelling(path) as address:
        yield Opened(address, is_outlier)


@pytest.fixture(scope="module")
def started(browser, tmp_path_factory):
    """A program whose columns have been corrected and that asks questions."""
    path = tmp_path_factory.mktemp("started") / "orders.csv"
    is_outlier = write_orders(path, N_ROWS)
    with run_labelling(path) as address:
        with faultless_page(browser, address) as page:
            page.get_by_label("Role of age").select_option("ignored")
            page.get_by_role("button", name="Apply").click()
            page.get_by_text("changed from numeric").wait_for()
            page.get_by_role("button", name="Start").click()
            _wait_for_question(page)
        yield Opened(address, is_outlier)


def _wait_for_question(page, other_than=""):
    page.locator(f"#card:not([data-row='']):not([data-row='{other_than}'])").wait_for()


def _row(page):
    return page.locator("#card").get_attribute("data-row")


def _press(page, key):
    """Press a key that leads to another question; return the row of the present one."""
    row = _row(page)
    page.keyboard.press(key)
    _wait_for_question(page, other_than=row)
    return int(row)


def _n_answers(page):
    return int(page.locator("#panel h2", has_text="answer").text_content().split()[0])


def _download(page, name, folder):
    with page.expect_download() as download:
        page.get_by_role("link", name=name).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_an_analyst_works_through_a_table_with_keys(started, open_page, tmp_path):
    page = open_page(started.address)
    page.evaluate(COLLECT_NOTICES)
    answers = _answer_until_a_group(page, started.is_outlier)
    group = _answer_a_group(page, len(answers))
    answers.update(dict.fromkeys(group, "outlier"))
    n_before, mistakes = len(answers), []
    for _ in range(40):
        row = int(_row(page))
        is_mistake = started.is_outlier[row] and len(mistakes) < WRONG
        if is_mistake:
            mistakes.append(row)
        answers[row] = "outlier" if started.is_outlier[row] and not is_mistake else "inlier"
        _press(page, answers[row][0])
    assert _n_answers(page) == len(answers) == n_before + 40
    page.locator("#panel-disagreements", has_text=re.compile(r"^([2-9]|\d\d)")).wait_for()
    assert any(re.match(r"Round \d: new questions", text) for text in page.evaluate("notices"))

    n, last = _n_answers(page), row
    page.keyboard.press("z")
    page.locator(f"#card[data-row='{last}']").wait_for()
    assert _n_answers(page) == n - 1
    _press(page, answers[last][0])

    page.goto("/history")
    changed = group[-1]
    line = page.get_by_role("row").filter(has=page.locator(f"a[href='/rows/{changed}']"))
    line.get_by_role("button", name="unsure").click()
    answers[changed] = "unsure"
    page.get_by_text(f"{n + 1} entries").wait_for()
    page.get_by_text("replaced").wait_for()

    page.goto("/disagreements")
    kept = _press_on_disagreement(page, "k")
    changed = _press_on_disagreement(page, "c")
    answers[changed] = "inlier" if answers[changed] == "outlier" else "outlier"
    history = _check_downloads(page, answers, tmp_path)
    assert history.count(kept) == history.count(changed) == 2


def _answer_until_a_group(page, is_outlier):
    """Answer single rows until ten more rows look like the row in question."""
    answers = {}
    while page.locator("input[name=also]").count() < 10:
        assert len(answers) < 60
        row = int(_row(page))
        answers[row] = "outlier" if is_outlier[row] else "inlier"
        _press(page, answers[row][0])
    return answers


def _answer_a_group(page, n_before):
    """Answer a group of at least ten rows with one key, without one of them; return the rows."""
    named = {box.get_attribute("value") for box in page.locator("input[name=also]").all()}
    page.keyboard.press("g")
    boxes = page.locator("input[name=also][type=checkbox]")
    boxes.first.wait_for()
    assert {box.get_attribute("value") for box in boxes.all()} == named
    rows = [int(_row(page)), *(int(box.get_attribute("value")) for box in boxes.all())]
    boxes.last.focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name=f"Outlier, all {len(rows) - 1}").wait_for()
    _press(page, "Shift+O")
    page.get_by_role("status").filter(has_text=f"Saved: {len(rows) - 1} rows").wait_for()
    assert _n_answers(page) - n_before == len(rows) - 1 >= 10
    return rows[:-1]


def _press_on_disagreement(page, key):
    """Press a key on the first answer that the model contradicts; return its row."""
    link = page.locator("[data-entry] a").first
    row = link.get_attribute("href")
    with page.expect_navigation():
        page.keyboard.press(key)
    assert page.locator(f"[data-entry] a[href='{row}']").count() == 0
    return int(row.removeprefix("/rows/"))


def _check_downloads(page, answers, folder):
    """Check that the downloads open and hold the answers; return the rows of the history."""
    page.goto("/results")
    scores = pyarrow.csv.read_csv(_download(page, "Scores, CSV", folder)).to_pydict()
    found = zip(scores["row"], scores["answer"], strict=True)
    assert {row: answer for row, answer in found if answer} == answers
    typed = pyarrow.parquet.read_table(_download(page, "Scores, Parquet", folder)).to_pydict()
    assert typed["answer"] == [answers.get(row) for row in range(N_ROWS)]
    history = pyarrow.csv.read_csv(_download(page, "Answers, CSV", folder))
    assert history.column("kind").to_pylist().count("withdrawal") == 1
    assert set(history.column("row").to_pylist()) == set(answers)
    tasks = json.loads(_download(page, "Tasks and answers", folder).read_text())
    assert len(tasks) >= len(answers)
    report = _download(page, "Report", folder)
    assert "orders.csv" in report.read_text(encoding="utf-8")
    return history.column("row").to_pylist()


def test_a_corrected_role_is_used(started, open_page):
    page = open_page(started.address)
    page.goto("/suspects")
    shown = page.locator("thead th.data").all_inner_texts()
    assert "amount" in shown
    assert "age" not in shown


def test_next_shows_another_question_without_an_answer(started, open_page):
    page = open_page(started.address)
    n = _n_answers(page)
    passed = _press(page, "n")
    assert (_row(page) != str(passed), _n_answers(page)) == (True, n)


def test_an_answer_after_the_note_was_resized_breaks_no_content_policy(started, open_page):
    page = open_page(started.address)  # which fails on errors of the console
    page.evaluate("document.getElementById('note').style.height = '5rem'")
    _press(page, "u")


def test_keys_are_ignored_while_a_note_is_typed(started, open_page):
    page = open_page(started.address)
    row = _row(page)
    page.keyboard.press("e")
    page.keyboard.type("ouison no")
    page.keyboard.press("Escape")
    assert page.locator("#note").input_value() == "ouison no"
    assert _row(page) == row
    _press(page, "u")
    page.goto("/history")
    newest = page.locator("tbody tr").first
    assert newest.locator(f"a[href='/rows/{row}']").count() == 1
    assert "ouison no" in newest.inner_text()


def test_two_people_never_see_the_same_question(started, open_page):
    seen = {"Ada": [], "Grace": []}
    pages = {name: open_page(started.address) for name in seen}
    for name, page in pages.items():
        page.locator(".who summary").click()
        page.get_by_label("Name in the history").fill(name)
        page.get_by_role("button", name="Save").click()
        _wait_for_question(page)
    for _ in range(8):
        for name, page in pages.items():
            seen[name].append(_press(page, "u"))
    assert len(set(seen["Ada"])) == len(seen["Ada"])
    assert not set(seen["Ada"]) & set(seen["Grace"])
    pages["Ada"].goto("/history")
    assert pages["Ada"].get_by_role("cell", name="Grace").count() > 0


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible_and_fits_a_narrow_window(started, open_page, path):
    page = open_page(started.address)
    page.goto(path)
    if page.locator("#group").count():
        page.keyboard.press("g")
    _check_looks(page)


@pytest.mark.parametrize("name", MADE_UP)
def test_a_passing_page_is_accessible_and_fits_a_narrow_window(started, open_page, name):
    page = open_page(started.address)
    content = render(f"{name}.html.j2", {**common(panel=None), **MADE_UP[name]})
    page.route("**/made-up", lambda route: route.fulfill(body=content, content_type="text/html"))
    page.route("**/progress", lambda route: route.fulfill(status=204))
    page.goto("/made-up")
    _check_looks(page)


def test_the_help_is_accessible(started, open_page):
    page = open_page(started.address)
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keyboard shortcuts").wait_for()
    _check_looks(page)


def test_the_columns_are_accessible(fresh, open_page):
    page = open_page(fresh.address)
    page.get_by_label("Role of age").wait_for()
    _check_looks(page)


def _check_looks(page):
    page.get_by_role("heading", level=1).wait_for()
    assert not scrolls_sideways(page)
    assert accessibility_faults(page) == []


# The last test of this file: it starts the program that shows columns.
def test_the_page_without_javascript_starts_answers_and_undoes(fresh, open_page):
    page = open_page(fresh.address, java_script_enabled=False)
    page.get_by_label("Role of age").select_option("ignored")
    page.get_by_role("button", name="Start").click()
    _wait_for_question(page)  # the page of the first training loads itself again
    row = _row(page)
    page.get_by_role("button", name="Outlier", exact=True).click()
    _wait_for_question(page, other_than=row)
    assert _n_answers(page) == 1
    page.get_by_role("button", name="Undo").click()
    page.locator(f"#card[data-row='{row}']").wait_for()
    assert _n_answers(page) == 0
