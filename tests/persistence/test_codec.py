"""Values pass through JSON and arrays unchanged."""

import json
import math
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from imboost.persistence.codec import NUMBER_TYPES, CannotEncodeError, Decoder, Encoder
from imboost.state import Stateful


class Colour(Enum):
    RED = "red"
    BLUE = 7


@dataclass(frozen=True)
class Spot:
    position: tuple
    colour: Colour


class Holder(Stateful):
    unsaved_attributes = ("rows", "search")

    def __init__(self, **parts):
        vars(self).update(parts)


CLASSES = {cls.__name__: __name__ for cls in (Colour, Spot, Holder)}


def through(value):
    """Return a value after writing and reading it."""
    encoder = Encoder(CLASSES)
    text = json.dumps(encoder.encode(value, "top"), allow_nan=False)
    arrays = safetensors.numpy.load(safetensors.numpy.save(encoder.arrays))
    return Decoder(CLASSES, arrays).decode(json.loads(text))


def assert_equal(found, value):
    assert type(found) is type(value)
    if isinstance(value, list | tuple):
        assert len(found) == len(value)
        for one, other in zip(found, value, strict=True):
            assert_equal(one, other)
    elif isinstance(value, dict):
        assert_equal(list(found.items()), list(value.items()))
    elif isinstance(value, float):
        assert math.copysign(1, found) == math.copysign(1, value) or math.isnan(value)
        assert found == value or (math.isnan(found) and math.isnan(value))
    elif isinstance(value, np.ndarray):
        assert found.shape == value.shape
        assert found.dtype == value.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found, value)
    else:
        assert found == value


arrays = st.sampled_from(NUMBER_TYPES).flatmap(
    lambda name: hnp.arrays(
        st.sampled_from(["<", ">"]).map(lambda order: np.dtype(name).newbyteorder(order)),
        hnp.array_shapes(min_dims=0, min_side=0, max_side=3),
    )
)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(Colour)
    | arrays
)
keys = st.text() | st.integers() | st.tuples(st.text(), st.booleans())
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=10,
)


@given(values)
def test_every_value_comes_back(value):
    assert_equal(through(value), value)


@pytest.mark.parametrize("name", NUMBER_TYPES)
def test_numpy_scalars_keep_their_type(name):
    assert_equal(through(np.ones(1, name)[0]), np.ones(1, name)[0])
    assert through({"a": np.float32(0.1)}) == {"a": np.float32(0.1)}
    assert np.isnan(through(np.float64("nan")))
    assert_equal(through(np.str_("text")), "text")


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", "bb", ""]),
        np.array([["a", "ü"], ["c", "d"]], dtype=object),
        np.array([], dtype=object),
    ],
)
def test_arrays_of_strings_come_back(array):
    assert_equal(through(array), array)


def test_arrays_keep_their_memory_order():
    table = np.arange(12.0).reshape(3, 4)
    for array in (table, table.T, table.T[:2], np.asfortranarray(table)[:, 1:]):
        found = through(array)
        np.testing.assert_array_equal(found, array)
        order = np.argsort(np.abs(array.strides))
        assert np.argsort(np.abs(found.strides)).tolist() == order.tolist()


def test_an_array_with_two_names_is_stored_once_and_shared():
    array = np.arange(3)
    encoder = Encoder(CLASSES)
    encoder.encode([array, array], "top")
    assert list(encoder.arrays) == ["top.0"]
    one, other = through([array, array])
    assert one is other


def test_tensors_come_back_without_gradient():
    tensor = torch.nn.Parameter(torch.eye(2, dtype=torch.float64))
    found = through(tensor)
    assert found.dtype == torch.float64
    assert not found.requires_grad
    assert torch.equal(found, tensor)


def test_objects_come_back_without_their_unsaved_attributes():
    holder = Holder(spot=Spot((1, 2), Colour.BLUE), rows=np.ones(3), search=object())
    found = through(holder)
    assert vars(found) == {"spot": holder.spot}


def test_a_random_state_comes_back_in_its_state():
    source = np.random.RandomState(3)
    source.normal(size=5)
    found = through(source)
    assert_equal(found.normal(size=3), source.normal(size=3))


def test_a_random_state_outside_its_numbers_is_refused():
    encoder = Encoder(CLASSES)
    source = np.random.RandomState(3)
    state = source.get_state(legacy=False)
    state["state"]["pos"] = 10**6
    coded = {"random_state": encoder.encode(state, "top")}
    with pytest.raises(ValueError, match="position out of range"):
        Decoder(CLASSES, encoder.arrays).decode(coded)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), r"top is of type object"),
        ([b"bytes"], r"top\.0 is of type bytes"),
        ({"a": {1, 2}}, r"top\.0 is of type set"),
        (Holder(folder=Path("a")), r"top\.folder is of type PosixPath"),
        (Holder, "top is of type type"),
        (print, "top is of type builtin_function_or_method"),
        (np.array([None, "a"]), "objects that are not strings"),
        (np.array([1j]), "an array of complex128"),
        (np.datetime64("2024-01-01"), "of type datetime64"),
    ],
)
def test_other_values_are_named(value, message):
    with pytest.raises(CannotEncodeError, match=message):
        through(value)
