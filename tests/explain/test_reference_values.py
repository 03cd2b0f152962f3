"""Positions of values among those of reference rows."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imboost.explain import reference_rows
from imboost.explain.reference_values import (
    MAX_VALUES,
    ReferenceCategories,
    ReferenceNumbers,
    fit_reference_values,
)
from imboost.facts import Position
from imboost.tables.datetime_parser import DatetimeParser
from imboost.tables.parsers import NumberParser, to_categories
from imboost.tables.schema import Schema


def numbers(*values):
    return NumberParser().parse(pa.chunked_array([values]))


def times(*values):
    return DatetimeParser().parse(pa.chunked_array([values]))


def categories(*values):
    return to_categories(pa.chunked_array([values]))


def test_numbers_have_the_fractions_of_their_distribution():
    reference = ReferenceNumbers.fit(np.random.default_rng(0).normal(size=200_000))
    assert len(reference.values) == MAX_VALUES
    found = reference.locate(np.array([-1.0, 0.0, 2.0, 3.4, 9.0, -9.0]))
    positions, shares, fractions = zip(*found, strict=True)
    np.testing.assert_allclose(fractions, [0.1587, 0.5, 0.9772, 0.9997, 1.0, 0.0], atol=0.003)
    assert positions == tuple(
        map(Position, ("below", "above", "above", "above", "above", "below"))
    )
    np.testing.assert_allclose(shares, [0.8413, 0.5, 0.9772, 0.9997, 1.0, 1.0], atol=0.003)


@given(known=st.lists(st.integers(-50, 50), min_size=1, max_size=200), value=st.integers(-60, 60))
def test_fractions_among_few_numbers_are_exact(known, value):
    [found] = ReferenceNumbers.fit(numbers(*known)).locate(numbers(value))
    assert found.reference_share == pytest.approx(np.mean(np.array(known) < value))


def test_equal_numbers_are_neither_above_nor_below():
    reference = ReferenceNumbers.fit(numbers(0, 0, 0, 1.5, 2))
    assert reference.locate(numbers(0, 1, 2)) == [
        (Position.BELOW, 0.4, 0.0),
        (Position.ABOVE, 0.6, 0.6),
        (Position.ABOVE, 0.8, 0.8),
    ]
    same = ReferenceNumbers.fit(numbers(3, 3))
    assert same.locate(numbers(3)) == [(Position.SAME, 1.0, 0.0)]


def test_a_missing_number_is_compared_with_other_missing_ones():
    often, never = (ReferenceNumbers.fit(numbers(1.0, 2.0, 3.0, last)) for last in (None, 4.0))
    assert often.locate(numbers(None)) == [(Position.MISSING, 0.25, 0.25)]
    assert never.locate(numbers(None)) == [(Position.MISSING, 0.0, 0.0)]
    assert often.locate(numbers(9.0)) == [(Position.ABOVE, 1.0, 1.0)]


def test_categories_are_as_rare_as_in_reference_rows():
    known = [*["web"] * 600, *["desk"] * 399, "phone", *[None] * 1000]
    reference = ReferenceCategories.fit(categories(*known))
    assert reference.locate(categories("web", "desk", "phone", "fax", None)) == [
        (Position.AMONG, 0.3, 0.3),
        (Position.AMONG, 0.1995, 0.1995),
        (Position.AMONG, 0.0005, 0.0005),
        (Position.AMONG, 0.0, 0.0),
        (Position.MISSING, 0.5, 0.5),
    ]


@pytest.mark.parametrize(
    ("kind", "parse"), [(ReferenceNumbers, numbers), (ReferenceCategories, categories)]
)
def test_a_column_without_any_value_is_missing_in_all_rows(kind, parse):
    empty = kind.fit(parse(None, None))
    assert empty.locate(parse(None)) == [(Position.MISSING, 1.0, 1.0)]


def test_a_number_in_a_column_without_any_value_has_no_position():
    empty = ReferenceNumbers.fit(numbers(None, None))
    assert empty.locate(numbers(5.0)) == [(Position.NO_VALUES, 0.0, 0.0)]


def test_the_columns_of_a_table_are_fitted_to_reference_rows_alone():
    table = pa.table(
        {
            "size": [1.0, 2.0, 3.0, 4.0, 1000.0],
            "kind": ["a", "a", "b", "b", "x"],
            "day": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "1999-01-01"],
            "id": [1, 2, 3, 4, 5],
        }
    )
    schema, parsed = Schema.fit_parse(
        table, {"kind": "categorical", "day": "datetime", "id": "identifier"}
    )
    reference = fit_reference_values(schema, parsed, np.arange(5) < 4)
    assert {name: reference[name].locate(values)[-1] for name, values in parsed.items()} == {
        "size": (Position.ABOVE, 1.0, 1.0),
        "kind": (Position.AMONG, 0.0, 0.0),
        "day": (Position.BELOW, 1.0, 0.0),
    }


def test_reference_rows_are_those_not_predicted_outliers_and_at_least_half():
    scores = np.array([1.0, 2.0, 3.0, 4.0])
    assert reference_rows(scores, 3.0).tolist() == [True, True, True, False]
    assert reference_rows(scores, 0.0).tolist() == [True, True, False, False]


def test_while_the_threshold_is_a_guess_nine_tenths_are_reference_rows():
    scores = np.arange(100.0)
    assert reference_rows(scores, 60.0, is_estimated=True).sum() == 90
    assert reference_rows(scores, 95.0, is_estimated=True).sum() == 96


def test_a_time_is_located_by_its_time_of_day_if_that_is_rarer_than_its_date():
    days = [f"2024-{1 + day // 28:02d}-{1 + day % 28:02d} {8 + day % 9}:30" for day in range(300)]
    reference = ReferenceNumbers.fit(times(*days), are_times=True)
    asked = ["2024-06-16 03:12", "2024-06-16 23:12", "2031-01-01 12:00", "2024-06-16 12:00", None]
    assert [(one.position, round(one.share, 2)) for one in reference.locate(times(*asked))] == [
        (Position.EARLIER, 1.0),
        (Position.LATER, 1.0),
        (Position.ABOVE, 1.0),
        (Position.ABOVE, 0.52),
        (Position.MISSING, 0.0),
    ]
    dates = ReferenceNumbers.fit(times("2024-01-01", "2024-02-01"), are_times=True)
    assert dates.locate(times("2024-01-15 03:00")) == [(Position.ABOVE, 0.5, 0.5)]


def test_a_time_of_day_that_all_reference_rows_have_says_nothing():
    days = [f"2024-{1 + day // 28:02d}-{1 + day % 28:02d} 12:00" for day in range(300)]
    reference = ReferenceNumbers.fit(times(*days), are_times=True)
    [found] = reference.locate(times("2024-06-16 12:00"))
    assert (found.position, round(found.share, 2)) == (Position.ABOVE, 0.52)


def test_a_time_without_a_date_is_located_once():
    hours = [f"{8 + hour % 9}:30" for hour in range(300)]
    parser = DatetimeParser("HH:MM")
    reference = ReferenceNumbers.fit(parser.parse(pa.chunked_array([hours])), are_times=True)
    asked = parser.parse(pa.chunked_array([["03:12"]]))
    assert reference.locate(asked) == [(Position.BELOW, 1.0, 0.0)]
