"""`imboost report`: one page about a table."""

import re

import numpy as np
import pyarrow as pa
import pytest

from imboost import TableDetector, persistence
from imboost.cli.report import Survey
from imboost.reporting import render, score_histogram
from imboost.scoring.drift import DriftMonitor
from page_reading import outside_addresses, tags
from program_running import orders, run_well, write


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A folder with a model, a table that differs from the one in training, and the report."""
    folder = tmp_path_factory.mktemp("shop")
    run_well("fit", write(orders(), folder / "orders.csv"))
    later = orders(400, seed=1)
    later = later.set_column(0, "order_id", pa.array([f"<b>{row}" for row in range(400)]))
    later = change(later, "amount", lambda row, cell: "much" if row == 3 else cell)
    later = change(later, "weight", lambda row, cell: None if row % 2 else cell)
    later = change(later, "channel", lambda row, cell: "carrier pigeon" if row < 7 else cell)
    write(later, folder / "later.csv")
    run_well("report", folder / "orders.model", folder / "later.csv")
    return folder


@pytest.fixture(scope="module")
def page(shop):
    return (shop / "later.report.html").read_text(encoding="utf-8")


def change(table, name, cell_of):
    cells = table.column(name).cast(pa.string()).to_pylist()
    changed = pa.array([cell_of(row, cell) for row, cell in enumerate(cells)], pa.string())
    return table.set_column(table.column_names.index(name), name, changed)


def test_the_page_holds_all_it_shows(page):
    assert outside_addresses(page) == []
    assert "script" not in tags(page)
    assert "order_id <b>" not in page


def test_the_page_says_how_many_rows_are_called_outliers(shop, page):
    detector = persistence.load(shop / "orders.model")
    n_called = int(detector.predict(shop / "later.csv").sum())
    assert f"<h1>{n_called} of 400 rows are called outliers</h1>" in page
    assert f"<b>{detector.threshold_:.4g}</b><span>threshold</span>" in page
    assert tags(page).count("svg") == 1


def test_the_highest_scores_come_with_reasons(shop, page):
    scores = persistence.load(shop / "orders.model").decision_function(shop / "later.csv")
    names = re.findall(r'<h3 class="row">order_id &lt;b&gt;(\d+) ', page)
    assert [int(name) for name in names] == np.argsort(-scores, kind="stable")[:20].tolist()
    assert page.count('<table class="reasons">') == 20
    assert page.count("10 other columns") == 20


def test_the_page_shows_the_sums_that_make_scores_and_how_they_are_known(page):
    for name in ("no column", "a reference row", "score"):
        assert page.count(f"<td>{name}</td>") == 20
    assert "What columns add is estimated: half by" in page
    assert "that number is a guess" in page


def test_the_page_says_what_columns_add(page):
    part = page.split("What the columns add")[1].split("</table>")[0]
    assert part.count("<tr>") == 1 + 14
    assert "in the 20 highest scores" in part
    assert "in 60 rows drawn from all" in part


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("amount", "1 cell holds no number and counts as missing"),
        ("weight", "% of cells are missing, "),
        ("channel", "%) hold a value not seen in training"),
    ],
)
def test_the_page_tells_what_is_odd_about_the_data(page, column, told):
    [line] = re.findall(rf"<tr><td>{column}</td><td>([^<]*)</td></tr>", page)
    assert told in line


def test_nothing_is_odd_about_the_training_table(shop):
    monitor = DriftMonitor(persistence.load(shop / "orders.model"))
    monitor.add(orders())
    assert monitor.findings() == []


def test_columns_that_are_not_looked_at_are_told(shop, tmp_path):
    table = orders().append_column("nothing", pa.nulls(300, pa.string()))
    write(table, tmp_path / "orders.csv")
    run_well("fit", tmp_path / "orders.csv", "--detector", "trees")
    run_well("report", tmp_path / "orders.model", tmp_path / "orders.csv")
    page = (tmp_path / "orders.report.html").read_text(encoding="utf-8")
    assert "<td>nothing</td><td>not used: constant in training</td>" in page
    assert "Trees cannot explain its scores" in page
    assert page.count("<tr><td>order_id A") == 20


def test_what_is_said_of_a_column_that_was_constant_is_true_of_any_table(tmp_path):
    table = pa.table(
        {"size": [1.0, 2.0, 3.0, 4.0] * 25, "unit": ["cm"] * 100, "note": ["x"] * 100}
    )
    detector = TableDetector("trees", roles={"note": "ignored"}).fit(table)
    monitor = DriftMonitor(detector)
    monitor.add(table.set_column(1, "unit", pa.array(["cm", "inch"] * 50)))
    told = {finding.column: finding.text for finding in monitor.findings()}
    assert told == {
        "unit": "not used: constant in training",
        "note": "not used: ignored",
    }
    assert monitor.warnings() == []


@pytest.mark.parametrize(
    ("n_rows", "n_missing", "is_striking"),
    [(100, 12, False), (100, 100, True), (1000, 160, True), (20, 4, False), (1000, 0, True)],
)
def test_a_share_of_gaps_is_striking_if_it_differs_by_more_than_chance(
    n_rows, n_missing, is_striking
):
    sizes = [None, *range(1, 10)] * 20
    detector = TableDetector("trees").fit(pa.table({"size": sizes, "kind": ["a", "b"] * 100}))
    monitor = DriftMonitor(detector)
    sizes = [None] * n_missing + [5] * (n_rows - n_missing)
    monitor.add(pa.table({"size": pa.array(sizes, pa.int64()), "kind": ["a"] * n_rows}))
    assert [finding.column for finding in monitor.warnings()] == ["size"] * is_striking


@pytest.mark.parametrize(("n_words", "is_striking"), [(10, False), (40, True)])
def test_cells_that_cannot_be_read_are_striking_if_they_are_more_than_in_training(
    n_words, is_striking
):
    numbers = [f"{row / 3:.2f}" for row in range(90)]
    detector = TableDetector("trees").fit(
        pa.table({"size": numbers + 10 * ["-"], "kind": ["a", "b"] * 50})
    )
    monitor = DriftMonitor(detector)
    cells = numbers[: 100 - n_words] + n_words * ["-"]
    monitor.add(pa.table({"size": cells, "kind": ["a"] * 100}))
    assert bool(monitor.warnings()) == is_striking


@pytest.mark.parametrize(
    ("n_outliers", "n_rows", "written"),
    [
        (400, 400, "100%"),
        (21, 1000, "2.1%"),
        (1, 2000, "0.05%"),
        (0, 7, "0%"),
        (1, 10**6, "under 0.01%"),
    ],
)
def test_the_share_of_outliers_can_be_read(n_outliers, n_rows, written):
    survey = Survey(np.zeros(n_rows, dtype=np.float32), n_outliers, None, None, [])
    words = dict.fromkeys(("data", "detector", "is_guess", "scores_svg", "why_none"), "")
    numbers = {"threshold": 1.0, "n_columns": 1, "n_training": 100}
    context = {**words, **numbers, "survey": survey, "rows": [], "plain_rows": []}
    page = render("scores.html.j2", context)
    assert f"<span>called outliers ({written})</span>" in page


@pytest.mark.parametrize(
    ("scores", "threshold"),
    [
        (np.zeros(5), 0.0),
        (np.array([0.1, 0.2, 0.9]), 0.5),
        (np.array([1.0, 2.0, 1e9]), 1.5),
        (np.array([-3e5, -2e5, 7.0]), -1e5),
        (np.array([5.0]), 1.0),
    ],
)
def test_scores_of_any_range_can_be_drawn(scores, threshold):
    svg = score_histogram(scores, threshold)
    assert svg.startswith("<svg")
    assert ("the last bar" in svg) == (scores.max() == 1e9)
