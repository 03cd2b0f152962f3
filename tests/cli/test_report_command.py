"""`imboost report`: one page about a table."""

import re

import numpy as np
import pyarrow as pa
import pytest

from imboost import persistence
from imboost.present.formatting import number
from imboost.present.pages import render
from imboost.scoring.drift import Drift
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
    assert tags(page).count("script") == 1
    assert "http" not in re.sub(r' xmlns(:\w+)?="[^"]*"', "", page)
    assert ">&lt;b&gt;" in page  # the identifiers are text


def test_the_page_says_how_many_outliers_are_predicted(shop, page):
    detector = persistence.load(shop / "orders.model")
    n_predicted = int(detector.predict(shop / "later.csv").sum())
    assert re.search(rf"<h1>{n_predicted} predicted outliers? in 400 rows</h1>", page)
    assert f"<b>{number(detector.threshold_)}</b><span>threshold</span>" in page
    assert tags(page).count("svg") > 1


def test_the_highest_scores_come_with_reasons(shop, page):
    scores = persistence.load(shop / "orders.model").decision_function(shop / "later.csv")
    numbers = [int(number) for number in re.findall(r"<small>row (\d+)</small>", page)]
    assert sorted(numbers) == sorted(np.argsort(-scores, kind="stable")[:100].tolist())
    assert (
        len(re.findall(r"<td class=\"figure\" data-value=\"[\d.e-]+\">[\d.]+</td>", page)) >= 100
    )
    assert page.count('<div class="why-box">') == 100


def test_the_page_shows_the_sums_that_make_scores_and_how_they_are_known(page):
    sums = re.findall(
        r"score ([^ ]+) = baseline ([^ ,]+)(?:, reasons ([^ ,]+))?, other columns ([^ ,]+), "
        r"residual ([^ <]+)<",
        page.replace("\N{MINUS SIGN}", "-"),
    )
    assert len(sums) == 100
    for total, *parts in sums:
        assert sum(float(part or 0) for part in parts) == pytest.approx(float(total), abs=0.0025)
    assert "Contributions are estimates: half by" in page
    assert "threshold is a rough estimate" in page


def test_the_page_shows_the_mean_contributions_of_columns(page):
    part = page.split("Contributions of columns")[1].split("</table>")[0]
    assert part.count("<tr>") == 1 + 14
    assert "100 highest scores" in part
    assert "60 random rows" in part


def test_rows_come_before_scores_findings_columns_and_differences(page):
    at = [
        page.index(f'id="{name}"') for name in ("rows", "scores", "findings", "columns", "drift")
    ]
    assert at == sorted(at)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("amount", "1 cell holds no number and counts as missing"),
        ("weight", "% of cells are missing, "),
        ("channel", "%) hold a value not seen in training"),
    ],
)
def test_the_page_lists_differences_from_training(page, column, message):
    [line] = re.findall(rf"<tr><td class=\"name\">{column}</td><td>([^<]*)</td></tr>", page)
    assert message in line


def test_the_training_table_has_no_findings(shop):
    assert Drift.of_table(persistence.load(shop / "orders.model"), orders()).findings() == []


def test_the_roles_that_were_given_to_fit_hold_for_the_findings(tmp_path):
    table = orders()
    ages = np.array(table["age"].to_pylist(), dtype=float)
    ages[7] = 999
    data = write(
        table.set_column(table.column_names.index("age"), "age", pa.array(ages)),
        tmp_path / "orders.csv",
    )
    pages = []
    for options in ([], ["--role", "age=ignored", "--force"]):
        run_well("fit", data, "--detector", "trees", *options)
        run_well("report", tmp_path / "orders.model", data)
        pages.append((tmp_path / "orders.report.html").read_text(encoding="utf-8"))
    assert ["age is 999 in 1 row" in page for page in pages] == [True, False]


def test_columns_that_are_not_used_are_listed(shop, tmp_path):
    table = orders().append_column("nothing", pa.nulls(300, pa.string()))
    write(table, tmp_path / "orders.csv")
    run_well("fit", tmp_path / "orders.csv", "--detector", "trees")
    run_well("report", tmp_path / "orders.model", tmp_path / "orders.csv")
    page = (tmp_path / "orders.report.html").read_text(encoding="utf-8")
    assert '<td class="name">nothing</td><td>not used: constant in training</td>' in page
    assert "Trees cannot explain its scores" in page
    assert len(re.findall(r'<th scope="row">A\d+<small>', page)) == 100
    assert "<mark>" not in page


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
    texts = dict.fromkeys(("data", "detector", "is_estimated", "scores_svg"), "")
    numbers = {"threshold": 1.0, "n_columns": 1, "n_training": 100}
    numbers |= {"n_rows": n_rows, "n_outliers": n_outliers}
    lists = {"groups": [], "contributions": [], "findings": [], "table_findings": []}
    rows = {"shown": {"heading": "row", "columns": [], "rows": []}, "why_unexplained": ""}
    context = {**texts, **numbers, **lists, **rows}
    page = render("scores.html.j2", context)
    assert f"<span>predicted outliers ({written})</span>" in page
