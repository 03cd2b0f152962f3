"""Where cells lie among those of usual rows."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imboost.explain import reference_rows
from imboost.explain.reference_values import (
    MOST_VALUES,
    ReferenceCategories,
    ReferenceNumbers,
    ReferenceTimes,
    fit_reference_values,
)
from imboost.tables.encoder import TableEncoder
from imboost.tables.parsers import DatetimeParser
from imboost.tables.roles import find_roles


def cells(*values):
    return pa.chunked_array([values])


def test_numbers_lie_where_the_distribution_says():
    normal = np.random.default_rng(0).normal(size=200_000)
    usual = ReferenceNumbers.fit(pa.chunked_array([normal]))
    assert len(usual.values) == MOST_VALUES
    places, told = zip(*usual.locate(cells(-1.0, 0.0, 2.0, 3.4, 9.0, -9.0)), strict=True)
    np.testing.assert_allclose(places, [0.1587, 0.5, 0.9772, 0.9997, 1.0, 0.0], atol=0.003)
    assert told[0] == "below 84 % of usual rows"
    assert told[3:] == (
        "above 99.9 % of usual rows",
        "above all usual rows",
        "below all usual rows",
    )


@given(known=st.lists(st.integers(-50, 50), min_size=1, max_size=200), value=st.integers(-60, 60))
def test_places_of_few_numbers_are_exact(known, value):
    [(place, _)] = ReferenceNumbers.fit(cells(*known)).locate(cells(value))
    assert place == pytest.approx(np.mean(np.array(known) < value))


def test_whole_numbers_numbers_as_text_and_equal_ones_are_understood():
    usual = ReferenceNumbers.fit(cells("0", "0", "0", "1,5", " 2 "))
    assert usual.locate(cells("0", "1", "2.0")) == [
        (0.0, "below 40 % of usual rows"),
        (0.6, "above 60 % of usual rows"),
        (0.8, "above 80 % of usual rows"),
    ]
    assert ReferenceNumbers.fit(cells(3, 3)).locate(cells(3)) == [(0.0, "as in all usual rows")]


def test_times_are_compared_as_times_whatever_they_are_stored_as():
    days = np.arange("2024-01-01", "2024-04-10", dtype="datetime64[D]")  # 100 of them
    usual = ReferenceNumbers.fit(
        pa.chunked_array([days.astype("datetime64[s]")]), DatetimeParser()
    )
    assert usual.locate(cells("2024-03-31", "2025-01-01")) == [
        (0.9, "above 90 % of usual rows"),
        (1.0, "above all usual rows"),
    ]


def test_a_missing_number_is_compared_with_others_that_are_missing():
    often, never = (
        ReferenceNumbers.fit(cells(1.0, 2.0, 3.0, None)),
        ReferenceNumbers.fit(cells(1.0, 2.0)),
    )
    assert often.locate(cells(None, "many")) == 2 * [(0.25, "missing in 25 % of usual rows")]
    assert never.locate(pa.chunked_array([[None]])) == [(0.0, "missing in no usual row")]
    assert often.locate(cells(9.0)) == [(1.0, "above all usual rows")]


def test_levels_are_as_rare_as_in_usual_rows():
    usual = ReferenceCategories.fit(
        cells(*["web"] * 600, *["desk"] * 399, "phone", *[None] * 1000)
    )
    assert usual.locate(cells("web", "desk", "phone", "fax", None)) == [
        (0.3, "in 30 % of usual rows"),
        (0.1995, "in 20 % of usual rows"),
        (0.0005, "in 1 of 2,000 usual rows"),
        (0.0, "in no usual row"),
        (0.5, "missing in 50 % of usual rows"),
    ]


def test_truths_and_whole_numbers_may_be_levels():
    assert ReferenceCategories.fit(cells(True, False)).locate(cells("true")) == [
        (0.5, "in 50 % of usual rows")
    ]
    assert ReferenceCategories.fit(cells(7, 7, 8)).locate(cells(8))[0][0] == pytest.approx(1 / 3)


def test_columns_without_any_value_say_that_it_is_missing():
    empty = pa.chunked_array([[None, None]])
    assert ReferenceNumbers.fit(empty).locate(empty) == 2 * [
        (1.0, "missing in 100 % of usual rows")
    ]
    assert ReferenceCategories.fit(empty).locate(empty) == 2 * [
        (1.0, "missing in 100 % of usual rows")
    ]
    assert ReferenceNumbers.fit(empty).locate(cells(5.0)) == [(0.0, "no usual row has a value")]


def test_a_tables_columns_are_learned_from_usual_rows_alone():
    table = pa.table(
        {
            "size": [1.0, 2.0, 3.0, 4.0, 1000.0],
            "kind": ["a", "a", "b", "b", "x"],
            "day": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "1999-01-01"],
            "id": [1, 2, 3, 4, 5],
        }
    )
    facts = find_roles(table, {"kind": "categorical", "day": "datetime", "id": "identifier"})
    encoders = TableEncoder.fit(table, facts).encoders
    usual = fit_reference_values(table, encoders, np.array([True, True, True, True, False]))
    assert list(usual) == ["size", "kind", "day"]
    told = [usual[name].locate(table.column(name))[-1] for name in usual]
    assert told == [
        (1.0, "above all usual rows"),
        (0.0, "in no usual row"),
        (0.0, "below all usual rows"),
    ]


def test_usual_rows_are_those_not_called_outliers_and_at_least_half():
    scores = np.array([1.0, 2.0, 3.0, 4.0])
    assert reference_rows(scores, 3.0).tolist() == [True, True, True, False]
    assert reference_rows(scores, 0.0).tolist() == [True, True, False, False]


def test_while_the_threshold_is_a_guess_nine_tenths_are_usual():
    scores = np.arange(100.0)
    assert reference_rows(scores, 60.0, is_estimated=True).sum() == 90
    assert reference_rows(scores, 95.0, is_estimated=True).sum() == 96


def test_a_time_is_odd_by_its_day_or_by_its_hour_whichever_is_rarer():
    days = [f"2024-{1 + day // 28:02d}-{1 + day % 28:02d} {8 + day % 9}:30" for day in range(300)]
    usual = ReferenceTimes.fit(cells(*days), DatetimeParser())
    said = ["2024-06-16 03:12", "2024-06-16 23:12", "2031-01-01 12:00", "2024-06-16 12:00", None]
    assert [where for _, where in usual.locate(cells(*said))] == [
        "earlier in the day than all usual rows",
        "later in the day than all usual rows",
        "above all usual rows",
        "above 52 % of usual rows",
        "missing in no usual row",
    ]
    dates = ReferenceTimes.fit(cells("2024-01-01", "2024-02-01"), DatetimeParser())
    assert dates.locate(cells("2024-01-15 03:00"))[0][1] == "above 50 % of usual rows"
