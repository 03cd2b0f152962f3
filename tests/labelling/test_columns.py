"""The columns of a table as cards draw them."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from imboost.facts import RareCategories
from imboost.labelling.columns import CategoryColumn, Columns, NumberColumn

DAYS = np.arange(101) * 86400.0  # datetimes are seconds since 1970


@pytest.mark.parametrize(
    ("expected", "drawn"),
    [
        (50 * 86400.0, 'class="expected" d="M80.0 0V32"'),
        (np.datetime64("1970-02-20"), 'class="expected" d="M80.0 0V32"'),
        (datetime.time(18, 30), ""),
        (None, ""),
    ],
)
def test_an_expected_number_or_date_is_marked_at_its_place(expected, drawn):
    picture = NumberColumn.fit(DAYS).draw(3, expected, "days")
    assert ('class="expected"' in picture) == bool(drawn)
    assert drawn in picture


@pytest.mark.parametrize("values", [[2.0, None, -1.0], ["b", None, "a"]])
def test_rows_without_a_value_come_first(values):
    table = pa.table({"x": values})
    parsed = {"x": np.array(values, float) if values[0] == 2.0 else table["x"]}
    assert np.argsort(Columns(table, parsed, []).sort_keys("x")).tolist() == [1, 2, 0]


def test_expected_rare_categories_are_marked_at_the_last_bar():
    column = CategoryColumn.fit(pa.chunked_array([["a", "a", "b", None]]))
    label = "cities"
    rare = column.draw(0, RareCategories(1), label)
    assert rare == column.picture.draw(label, expected="another", mark="a")
    assert "mark" not in column.draw(3, "a", label)
