import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from imboost.stats.scaling import MAX_MINMAX_SCALED, MinMaxScaling, StandardScaling


def tables(dtype):
    """Tables of any finite numbers the type can hold."""
    width = np.dtype(dtype).itemsize * 8
    finite = st.floats(allow_nan=False, allow_infinity=False, width=width)
    return arrays(dtype, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=finite)


@given(tables(np.float64) | tables(np.float32))
def test_training_rows_land_in_the_unit_interval(table):
    scaled = MinMaxScaling.fit(table).transform(table)
    assert scaled.min() >= 0
    assert scaled.max() <= 1 + 1e-12


@given(tables(np.float64))
def test_scaling_keeps_the_order_of_a_column(table):
    scaled = MinMaxScaling.fit(table).transform(table)
    for column, image in zip(table.T, scaled.T, strict=True):
        assert (np.diff(image[np.argsort(column)]) >= 0).all()


@given(tables(np.float64).filter(lambda table: len(table) > 1))
def test_rows_that_were_not_seen_stay_finite(table):
    scaled = MinMaxScaling.fit(table[1:]).transform(table)
    assert np.isfinite(scaled).all()
    assert np.abs(scaled).max() <= MAX_MINMAX_SCALED


def test_smallest_and_largest_value_become_0_and_1():
    table = np.array([[-3.0, 10.0], [1.0, 30.0], [0.0, 15.0]])
    assert MinMaxScaling.fit(table).transform(table).tolist() == [[0, 0], [1, 1], [0.75, 0.25]]


def test_values_outside_the_training_range_stay_outside():
    scaling = MinMaxScaling.fit(np.array([[0.0], [10.0]]))
    assert scaling.transform(np.array([[-5.0], [25.0]])).tolist() == [[-0.5], [2.5]]


def test_values_far_outside_are_clipped():
    scaling = MinMaxScaling.fit(np.array([[0.0], [1e-30]]))
    far = np.array([[1e308], [-1e308]])
    assert scaling.transform(far).tolist() == [[MAX_MINMAX_SCALED], [-MAX_MINMAX_SCALED]]


@pytest.mark.parametrize("constant", [0.0, 0.1, -7.0, 1e300])
def test_a_constant_column_becomes_0(constant):
    table = np.full((5, 1), constant)
    assert (MinMaxScaling.fit(table).transform(table) == 0).all()


@pytest.mark.parametrize(
    ("constant", "value", "expected"), [(0, 3, 3), (0.5, 2, 1.5), (100, 150, 0.5)]
)
def test_a_value_that_leaves_a_constant_column_is_seen(constant, value, expected):
    scaling = MinMaxScaling.fit(np.full((5, 1), float(constant)))
    assert scaling.transform(np.array([[float(value)]])).item() == pytest.approx(expected)


@pytest.mark.parametrize("width", [1e-30, 1e-300, 5e-324])
def test_a_column_of_hardly_any_width_stays_in_the_unit_interval(width):
    table = np.array([[0.0], [width]])
    scaling = MinMaxScaling.fit(table)
    assert np.isfinite(scaling.factor.astype(np.float32)).all()
    low, high = scaling.transform(table)[:, 0]
    assert low == 0
    assert 0 <= high <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_column_as_wide_as_its_type_fills_the_unit_interval(dtype):
    largest = np.finfo(dtype).max
    table = np.array([[-largest], [0], [largest]], dtype=dtype)
    assert MinMaxScaling.fit(table).transform(table)[:, 0] == pytest.approx([0, 0.5, 1])


def test_a_narrow_column_far_from_zero_keeps_its_detail():
    table = 1e9 + np.linspace(0, 1e-3, 11)[:, None]
    scaled = MinMaxScaling.fit(table).transform(table)[:, 0]
    assert scaled == pytest.approx(np.linspace(0, 1, 11), abs=1e-3)


def test_a_constant_column_maps_to_0_whatever_its_rounding():
    constant = np.full((100, 1), 0.1)  # its computed standard deviation is not exactly 0
    np.testing.assert_allclose(StandardScaling.fit(constant).transform(constant), 0, atol=1e-12)
