import re

import pytest
from typer.testing import CliRunner

from imboost.cli.main import app
from imboost.session import questions_per_round
from page_reading import outside_addresses, tags


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What the demo says and the page it writes."""
    out = tmp_path_factory.mktemp("demo") / "report"
    result = CliRunner().invoke(
        app, ["demo", "--rounds", "2", "--out", str(out)], catch_exceptions=False
    )
    return result, (out / "index.html").read_text(encoding="utf-8")


def table_rows(output):
    """Return the numbers of every row of the printed table."""
    rows = (re.findall(r"[\d.]+", line) for line in output.splitlines() if line.startswith("│"))
    return [[float(number) for number in row] for row in rows]


def test_the_demo_writes_a_page_and_says_where(demo):
    result, _ = demo
    assert result.exit_code == 0
    assert re.search(r"Report: .*index\.html", result.stdout)


def test_the_demo_shows_that_answers_help(demo):
    result, _ = demo
    before, _, after = table_rows(result.stdout)
    n_answers = questions_per_round(1696)
    assert before[:3] == [0, 0, 0]
    assert after[:2] == [2, 2 * n_answers]
    auc_before, auc_after = before[3], after[3]
    assert auc_after > auc_before


def test_the_page_holds_all_it_shows(demo):
    _, page = demo
    assert outside_addresses(page) == []
    assert "script" not in tags(page)
    assert "link" not in tags(page)


def test_the_page_shows_the_curve_the_answers_and_the_pictures(demo):
    _, page = demo
    n_answers = 2 * questions_per_round(1696)
    assert f"<h1>{n_answers} answers, " in page
    assert tags(page).count("svg") == 1
    # Twenty highest scores before and after, and every row asked about.
    assert tags(page).count("img") == 20 + 20 + n_answers
    assert page.count('src="data:image/png;base64,') == 20 + 20 + n_answers
