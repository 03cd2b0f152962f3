"""Encoding of tables: missing values, categories, datetimes, scalings and unknown columns."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imboost.errors import DataError, UnknownNameError
from imboost.facts import RareCategories
from imboost.tables.encoder import MAX_CATEGORIES, DatetimeEncoder, TableEncoder
from imboost.tables.layout import Kind, Layout
from imboost.tables.number_scaling import SCALINGS, fit_scaling
from imboost.tables.schema import Schema

N = 40


class Fitted:
    """The schema and the encoder of a table."""

    def __init__(self, columns, scaling="robust", **roles):
        self.schema, parsed = Schema.fit_parse(pa.table(columns), roles)
        self.encoder = TableEncoder.fit(self.schema, parsed, scaling)
        self.layout = self.encoder.layout

    def transform(self, table):
        return self.encoder.transform(self.schema.parse(table))

    @property
    def kinds(self):
        return [feature.kind for feature in self.layout.features]


def test_missing_numbers_stay_missing_and_have_an_indicator():
    table = Fitted({"a": [1.0, None, 3.0, 5.0]})
    matrix = table.transform(pa.table({"a": [None, 3.0]}))
    assert table.kinds == [Kind.NUMERIC, Kind.MISSING_INDICATOR]
    assert np.isnan(matrix[0, 0])
    assert matrix[:, 1].tolist() == [1.0, 0.0]


def test_there_is_no_missing_indicator_if_no_training_cell_is_missing():
    table = Fitted({"a": [1.0, 2.0, 3.0]})
    assert np.isnan(
        table.transform(pa.table({"a": [None]}, schema=pa.schema({"a": "float64"})))
    ).all()


def test_categories_are_one_hot_and_missing_is_one_of_them():
    table = Fitted({"a": ["x", "y", "x", None]})
    matrix = table.transform(pa.table({"a": ["y", None, "x", "new"]}))
    assert table.kinds == [Kind.CATEGORICAL]
    assert (matrix.sum(axis=1) == 1).all()
    assert table.encoder.encoders["a"].decode(matrix) == [
        "y",
        "(missing)",
        "x",
        RareCategories(3),
    ]
    assert matrix.argmax(axis=1).tolist() == [2, 1, 0, 3]


def test_rare_categories_share_columns_with_equally_rare_ones():
    common = [f"common{i}" for i in range(MAX_CATEGORIES)] * 100
    often, once = [f"often{i}" for i in range(30)] * 20, [f"once{i}" for i in range(30)]
    table = Fitted({"a": common + often + once}, a="categorical")
    matrix = table.transform(pa.table({"a": ["common3", "often1", "often2", "once1", "never"]}))
    own, first_often, second_often, once_seen, never_seen = matrix.argmax(axis=1)
    assert own < MAX_CATEGORIES <= once_seen
    assert first_often == second_often > once_seen == never_seen


def test_datetimes_have_features_for_the_time_of_day_and_the_day_of_the_week():
    hours = [f"2024-01-{1 + hour // 24:02d} {hour % 24:02d}:00" for hour in range(24 * 20)]
    table = Fitted({"a": hours})
    parts = [feature.part for feature in table.layout.features]
    assert parts[0] == ""
    assert {part.split(",")[0] for part in parts[1:]} == {"time of day", "day of the week"}
    matrix = table.transform(pa.table({"a": ["2024-01-03 06:00", "2024-01-10 06:00"]}))
    np.testing.assert_allclose(matrix[0, 1:], matrix[1, 1:], atol=1e-9)
    assert matrix[0, 0] < matrix[1, 0]


def test_columns_may_come_in_another_order_and_unused_ones_may_be_missing():
    columns = {"id": list(range(N)), "x": np.linspace(0, 1, N), "c": ["u", "v"] * (N // 2)}
    table = Fitted(columns)
    whole = table.transform(pa.table(columns))
    np.testing.assert_array_equal(whole, table.transform(pa.table(columns).select(["c", "x"])))


def test_columns_that_are_missing_or_extra_are_named():
    table = Fitted({"a": [1.0, 2.0], "b": [1.0, 3.0]})
    for columns, message in (
        ("az", "lacks the column 'b' and has the extra column 'z': rename it, or fit again."),
        ("abz", "has the extra column 'z': leave it out, or fit again."),
        ("a", "lacks the column 'b': add it, or fit again."),
    ):
        with pytest.raises(DataError, match=message):
            table.transform(pa.table({name: [1.0] for name in columns}))


def test_text_is_parsed_by_the_role_of_the_training_column():
    table = Fitted({"a": [1.0, 2.0, 4.0], "b": [True, False, True]})
    matrix = table.transform(pa.table({"a": ["2.0", "many"], "b": ["true", "false"]}))
    expected = table.transform(pa.table({"a": [2.0, None], "b": [True, False]}))
    np.testing.assert_array_equal(matrix, expected)


@pytest.mark.parametrize("name", SCALINGS)
@given(values=st.lists(st.floats(-1e300, 1e300), min_size=2), later=st.floats(-1e300, 1e300))
def test_scalings_keep_the_order_and_stay_finite(name, values, later):
    known = np.array(values)
    scaling = fit_scaling(name, known)
    scaled = scaling.transform(np.sort(np.append(known, later)))
    assert np.isfinite(scaled).all()
    assert (np.diff(scaled) >= -1e-9 * np.abs(scaled).max()).all()
    assert np.isnan(scaling.transform(np.array([np.nan]))).all()


@pytest.mark.parametrize("name", ["robust", "quantile"])
def test_one_extreme_value_does_not_dominate_a_column(name):
    values = np.append(np.linspace(0, 1, 99), 1e9)
    scaled = fit_scaling(name, values).transform(values)
    assert np.ptp(scaled[:99]) > 0.03 * np.ptp(scaled)


@pytest.mark.parametrize("name", SCALINGS)
def test_a_value_out_of_range_lies_outside_of_all_others(name):
    scaling = fit_scaling(name, np.linspace(0, 1, 50))
    inside = scaling.transform(np.linspace(0, 1, 50))
    width = np.ptp(inside)
    assert scaling.transform(np.array([3.0]))[0] > inside.max() + 0.5 * width
    assert scaling.transform(np.array([-2.0]))[0] < inside.min() - 0.5 * width


@pytest.mark.parametrize("name", SCALINGS)
def test_a_scaling_can_be_inverted(name):
    values = np.random.default_rng(0).lognormal(size=200)
    scaling = fit_scaling(name, values)
    more = np.array([values.min() - 5, *np.quantile(values, [0.1, 0.5, 0.9]), values.max() + 50])
    np.testing.assert_allclose(scaling.inverse_transform(scaling.transform(more)), more, rtol=1e-6)


def test_small_and_negative_numbers_stand_out_on_a_logarithmic_scale():
    rng = np.random.default_rng(0)
    prices = np.append(rng.lognormal(7.0, 0.4, 300), [9.0, -1100.0])

    def gap(name):
        scaled = fit_scaling(name, prices).transform(prices)
        inner = scaled[:300]
        return (inner.min() - scaled[300:]) / (inner.max() - inner.min())

    assert (gap("log") > 3 * gap("robust")).all()


@pytest.mark.parametrize("values", [np.linspace(10, 20, 99), np.linspace(-1, 9, 99) ** 3])
def test_columns_that_are_symmetric_or_change_their_sign_are_not_scaled_by_logarithms(values):
    assert fit_scaling("log", values) == fit_scaling("robust", values)


def test_datetimes_are_not_scaled_by_logarithms():
    seconds = np.geomspace(1e9, 1.6e9, 99)
    assert DatetimeEncoder.fit(seconds, "log") == DatetimeEncoder.fit(seconds, "robust")


def test_an_unknown_scaling_is_named():
    with pytest.raises(UnknownNameError, match="Did you mean 'robust'"):
        Fitted({"a": [1.0, 2.0]}, scaling="robsut")


def test_a_layout_maps_columns_to_their_sources():
    layout = Fitted({"a": [1.0, None, 2.0], "b": ["x", "y", "y"]}).layout
    assert layout.sources == ["a", "b"]
    assert layout.source_of_columns().tolist() == [0, 0, 1, 1, 1]
    assert layout.n_columns == 5
    assert [f.source for f in layout.of_kind(Kind.MISSING_INDICATOR)] == ["a"]
    assert Layout.of_numbers(["p", "q"]).source_of_columns().tolist() == [0, 1]
