"""Sessions, explanations and detectors in a notebook."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import make_quick
from imboost import Session, TableDetector
from imboost.errors import SessionError
from imboost.explain import Explanation
from imboost.facts import Fact, FactKind
from imboost.present import wording
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
        assert f"Row {row.row}: score" in page.text
        for cell in row.unusual_cells:
            assert (cell.text or "(missing)") in page.text
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
    assert "(missing)" in repr(shown)
    values = [(cell.column, cell.text) for row in shown.rows for cell in row.cells]
    assert {("size", None), ("city", None)} <= set(values)
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
    assert [cell.column for cell in row.other_cells] == ["size", "city"]


def test_a_session_shows_its_progress_and_trains_nothing():
    data = frame()
    data["size"][7] = 60.0
    session = table_session(pd.DataFrame(data))
    assert "Session on 80 rows" in session._repr_html_()
    assert "not trained yet" in session._repr_html_()
    assert not hasattr(session.detector, "decision_scores_")
    first, *others = session.ask(5)
    session.tell([first], ["outlier"])
    page = Tags(session._repr_html_())
    assert "answers 1 (1 outlier)" in page.text
    assert "open questions 4" in page.text
    assert f"{int(session.detector.labels_.sum())}, above " in page.text
    assert [row for row in others if f"Row {row}: score" in page.text] == others[:3]


def test_a_session_with_markup_shows_it_as_text():
    data = frame()
    data[HOSTILE] = data.pop("city").astype(object)
    data[HOSTILE][:] = HOSTILE + data[HOSTILE]
    session = table_session(pd.DataFrame(data))
    session.ask(3)
    assert "script" not in Tags(session._repr_html_()).names


def test_an_explanation_shows_its_main_reasons_and_its_sum():
    data = pd.DataFrame(frame())
    data.loc[7, "size"] = 60.0
    detector = TableDetector(make_quick("stack"), random_state=0).fit(data)
    [explanation] = detector.explain(data.iloc[[7]])
    page = Tags(explanation._repr_html_())
    assert page.text.startswith(f"Score {explanation.score:.4g}")
    assert wording.position(explanation.main_reasons[0]) in page.text
    assert f"{explanation.main_reasons[0].contribution:+.4g}" in page.text
    assert "residual" in page.text


def test_a_repeated_row_is_shown_without_a_value():
    text = "another row is the same, or differs in one cell"
    reasons = [
        Fact(kind=FactKind.NEAR_DUPLICATE, contribution=0.5),
        Fact(kind=FactKind.VALUE, columns=(HOSTILE,), contribution=0.4),
    ]
    page = Tags(Explanation(1.0, 0.1, 0.0, False, reasons)._repr_html_())
    assert text in page.text
    assert page.text.count("(missing)") == 1
    assert "script" not in page.names


def test_a_fitted_table_detector_shows_columns_threshold_and_outliers():
    data = pd.DataFrame({"id": [f"K{row}" for row in range(80)], **frame()})
    data = data.rename(columns={"city": HOSTILE})
    detector = TableDetector(make_quick("stack"), random_state=0)
    assert "predicted outliers" not in detector._repr_html_()
    detector.fit(data)
    page = Tags(detector._repr_html_())
    assert "training rows" in detector._repr_mimebundle_()["text/html"]
    assert "training rows 80" in page.text
    assert f"predicted outliers {int(detector.labels_.sum())}" in page.text
    assert f"threshold {detector.threshold_:.4g}" in page.text
    for column in detector.schema_:
        assert str(column.role) in page.text
    assert HOSTILE in page.text


def test_a_fitted_detector_of_arrays_shows_threshold_and_labels(planted):
    labels = np.where(np.arange(len(planted.X)) < 20, planted.y, -1)
    detector = make_quick("stack").fit(planted.X, labels)
    text = Tags(detector._repr_html_()).text
    n_outliers = int((labels == 1).sum())
    assert f"labels {n_outliers} outlier, {20 - n_outliers} inlier" in text


def test_a_row_that_repeats_another_is_shown():
    rng = np.random.default_rng(1)
    numbers = {f"x{number}": rng.normal(size=400) for number in range(4)}
    data = pd.DataFrame(numbers | frame(400))
    data = pd.concat([data, data.iloc[[5]]], ignore_index=True)
    shown = table_session(data).show(400)
    [cell] = [cell for cell in shown.rows[0].unusual_cells if cell.is_row]
    assert cell.text is None
    assert "(row)  another row is the same" in repr(shown)
