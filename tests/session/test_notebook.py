"""Rows of a session in a notebook."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import make_quick
from imboost import Session, TableDetector
from imboost.errors import SessionError
from imboost.session.notebook import MAX_ROWS

HOSTILE = "<script>alert(1)</script>\x1b[31m"


def frame(n=80):
    rng = np.random.default_rng(0)
    return {"size": rng.normal(size=n), "city": rng.choice(["Bonn", "Ulm"], n)}


def table_session(data, name="stack"):
    return Session(TableDetector(make_quick(name), random_state=0), data, random_state=0)


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.names = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)

    def handle_data(self, data):
        self.text += data


def test_open_questions_are_shown(planted):
    session = Session(make_quick("trees"), planted.X, random_state=0)
    assert "No question is open" in repr(session.show())
    rows = session.ask(3)
    shown = repr(session.show())
    assert shown.startswith("3 open questions\n")
    for row in rows:
        assert f"Row {row}: score {session.detector.decision_scores_[row]:.4g}, rank " in shown
        assert f"0 {planted.X[row, 0]:.6g}, 1 {planted.X[row, 1]:.6g}" in shown


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_of_every_library_are_shown_with_reasons(make):
    data = frame()
    data["size"][7] = 60.0
    session = table_session(make(data))
    session.tell([7], ["outlier"])
    text = repr(session.start().show(7))
    assert text.startswith("1 row\n")
    assert ", answered outlier" in text
    assert "size  60, expected" in text
    assert f"city {data['city'][7]}" in text


def test_html_has_all_that_the_text_has():
    data = frame()
    data["size"][7] = 60.0
    shown = table_session(pd.DataFrame(data)).show([7, 3])
    page = Tags(shown._repr_html_())
    assert page.names.count("table") >= 1
    for row in shown.rows:
        assert row.title in page.text
        for cell in row.reasons:
            assert cell.value in page.text
            assert cell.position in page.text


def test_text_of_the_table_is_neither_markup_nor_control():
    data = frame()
    data[HOSTILE] = data.pop("city").astype(object)
    data[HOSTILE][5] = HOSTILE
    shown = table_session(pd.DataFrame(data)).show(5)
    html = shown._repr_html_()
    assert "script" not in Tags(html).names
    assert html.count("&lt;script&gt;") >= 2
    assert "\x1b" not in repr(shown)


def test_missing_cells_are_named_and_long_ones_cut():
    data = pd.DataFrame(frame())
    data["city"] = data["city"].astype(object)
    data.loc[5, "city"] = None
    data.loc[5, "size"] = np.nan
    data.loc[6, "city"] = "x" * 1000
    shown = table_session(data).show([5, 6])
    cells = [cell for row in shown.rows for cell in (*row.reasons, *row.others)]
    values = [(cell.column, cell.value) for cell in cells]
    assert {("size", "(missing)"), ("city", "(missing)")} <= set(values)
    assert ("city", "x" * 120 + "…") in values


def test_a_row_that_does_not_exist_is_refused(planted):
    session = Session(make_quick("trees"), planted.X)
    with pytest.raises(SessionError, match="Row ids go from 0 to 299, got 300"):
        session.show(300)


def test_many_rows_are_cut(planted):
    session = Session(make_quick("trees"), planted.X)
    shown = session.show(range(50))
    assert shown.heading == f"50 rows; the first {MAX_ROWS}"
    assert len(shown.rows) == MAX_ROWS


def test_a_detector_without_explanations_shows_cells_alone():
    session = table_session(pd.DataFrame(frame()), "trees")
    [row] = session.show(3).rows
    assert not row.reasons
    assert [cell.column for cell in row.others] == ["size", "city"]
