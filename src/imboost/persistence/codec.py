"""Values as JSON and named arrays, and back.

None, booleans, integers, finite floats, strings and lists are themselves in JSON. Every other
value is a JSON object whose first key is its kind:

======================================  =====================================================
``{"float": "nan"}``                    nan, inf or -inf, which JSON does not have
``{"tuple": [...]}``                    a tuple
``{"dict": [[key, value], ...]}``       a dictionary, in its order
``{"scalar": ["int64", 3]}``            a numpy scalar
``{"strings": [...], "shape": [...]}``  an array of strings
``{"array": NAME, "order": "C"}``       a numeric array and its memory order
``{"tensor": NAME}``                    a torch tensor
``{"forest": NAME}``                    a random forest of scikit-learn
``{"device": "cpu"}``                   a torch device; loaded detectors are on the CPU
``{"random_state": {...}}``             a numpy RandomState
``{"class": NAME, "state": {...}}``     an object of a registered class, see `imboost.state`
======================================  =====================================================
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from imboost.persistence.forests import FORESTS

Arrays = dict[str, NDArray[Any]]

NUMBER_TYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
)
"""The numpy types of arrays and scalars."""


class CannotEncodeError(TypeError):
    """A value of a type that cannot be saved."""


class Encoder:
    """Turns values into JSON and collects their arrays and forests.

    Parameters
    ----------
    classes : dict of str to type
        The classes of objects that may be encoded, by name.

    Attributes
    ----------
    arrays : dict of str to array
        The arrays of all values encoded so far, C-contiguous.
    forests : dict of str to estimator
        Their random forests.
    """

    def __init__(self, classes: Mapping[str, type]) -> None:
        self.arrays: Arrays = {}
        self.forests: dict[str, Any] = {}
        self._names = {cls: name for name, cls in classes.items()}
        self._seen: dict[int, tuple[Any, str]] = {}  # arrays by identity, kept alive

    def encode(self, value: Any, path: str) -> Any:
        """Return a value as JSON; `path` names its arrays and appears in errors."""
        if type(value) in self._names:
            state = {
                name: self.encode(part, f"{path}.{name}")
                for name, part in _state_of(value).items()
            }
            return {"class": self._names[type(value)], "state": state}
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, np.generic) and value.dtype.name in NUMBER_TYPES:
            return {"scalar": [value.dtype.name, self.encode(value.item(), path)]}
        if isinstance(value, np.str_):
            return str(value)
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        if isinstance(value, torch.Tensor):
            return {"tensor": self._store(value.detach().cpu().numpy(), path)}
        if isinstance(value, torch.device):
            return {"device": "cpu"}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(value.get_state(legacy=False), path)}
        if type(value) in FORESTS:
            self.forests[path] = value
            return {"forest": path}
        if type(value) in (list, tuple):
            parts = [self.encode(part, f"{path}.{at}") for at, part in enumerate(value)]
            return parts if type(value) is list else {"tuple": parts}
        if isinstance(value, Mapping):
            pairs = [
                [self.encode(key, f"{path}.{at}.key"), self.encode(part, f"{path}.{at}")]
                for at, (key, part) in enumerate(value.items())
            ]
            return {"dict": pairs}
        raise CannotEncodeError(f"{path} is of type {type(value).__name__}")

    def _array(self, array: NDArray[Any], path: str) -> Any:
        if array.dtype.kind in "OU":
            strings = array.ravel().tolist()
            if not all(isinstance(string, str) for string in strings):
                raise CannotEncodeError(f"{path} is an array of objects that are not strings")
            kind = "object" if array.dtype.kind == "O" else "str"
            shape = list(array.shape)
            return {"strings": [str(string) for string in strings], "shape": shape, "type": kind}
        # The last digits of matrix products depend on the memory order of the matrices.
        is_transposed = array.ndim > 1 and abs(array.strides[0]) < abs(array.strides[-1])
        if id(array) not in self._seen:
            name = self._store(array.T if is_transposed else array, path)
            self._seen[id(array)] = (array, name)
        return {"array": self._seen[id(array)][1], "order": "F" if is_transposed else "C"}

    def _store(self, array: NDArray[Any], path: str) -> str:
        if array.dtype.name not in NUMBER_TYPES:
            raise CannotEncodeError(f"{path} is an array of {array.dtype.name}")
        native = array.dtype.newbyteorder("=")
        self.arrays[path] = np.array(array, dtype=native, order="C")
        return path


class Decoder:
    """Turns JSON, arrays and forests into values.

    Invalid input raises `KeyError`, `TypeError` or `ValueError`.

    Parameters
    ----------
    classes : dict of str to type
        The only classes of which objects are created, by name.
    arrays : dict of str to array
    forests : dict of str to estimator
    """

    def __init__(
        self, classes: Mapping[str, type], arrays: Arrays, forests: Mapping[str, Any]
    ) -> None:
        self._classes = classes
        self._arrays = arrays
        self._forests = forests
        self._decoded: dict[tuple[str, str], NDArray[Any]] = {}

    def decode(self, coded: Any) -> Any:
        """Return the value that was encoded."""
        if isinstance(coded, list):
            return [self.decode(part) for part in coded]
        if not isinstance(coded, dict):
            return coded
        kind = next(iter(coded), "")
        return self._KINDS[kind](self, coded)

    def _float(self, coded: dict[str, Any]) -> float:
        return float(coded["float"])

    def _tuple(self, coded: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.decode(part) for part in coded["tuple"])

    def _dict(self, coded: dict[str, Any]) -> dict[Any, Any]:
        return {self.decode(key): self.decode(part) for key, part in coded["dict"]}

    def _scalar(self, coded: dict[str, Any]) -> Any:
        name, value = coded["scalar"]
        if name not in NUMBER_TYPES:
            raise ValueError(f"'{name}' is not a numeric type")
        return np.dtype(name).type(self.decode(value))

    def _strings(self, coded: dict[str, Any]) -> NDArray[Any]:
        kind = {"object": object, "str": str}[coded["type"]]
        return np.array(coded["strings"], dtype=kind).reshape(coded["shape"])

    def _array(self, coded: dict[str, Any]) -> NDArray[Any]:
        key = (coded["array"], coded["order"])
        if key not in self._decoded:
            array = np.array(self._arrays[key[0]], order="C")
            self._decoded[key] = array.T if key[1] == "F" else array
        return self._decoded[key]

    def _tensor(self, coded: dict[str, Any]) -> torch.Tensor:
        return torch.from_numpy(np.array(self._arrays[coded["tensor"]], order="C"))

    def _forest(self, coded: dict[str, Any]) -> Any:
        return self._forests[coded["forest"]]

    def _device(self, _coded: dict[str, Any]) -> torch.device:
        return torch.device("cpu")

    def _random_state(self, coded: dict[str, Any]) -> np.random.RandomState:
        state = self.decode(coded["random_state"])
        if not 0 <= state["state"]["pos"] <= len(state["state"]["key"]):
            # numpy does not check
            raise ValueError("the saved RandomState is invalid: position out of range")
        source = np.random.RandomState()
        source.set_state(state)
        return source

    def _object(self, coded: dict[str, Any]) -> Any:
        name = coded["class"]
        if name not in self._classes:
            raise ValueError(f"it names the class '{name}', which models do not contain")
        state = {field: self.decode(part) for field, part in coded["state"].items()}
        return _from_state(self._classes[name], state)

    _KINDS: ClassVar[dict[str, Callable[[Any, dict[str, Any]], Any]]] = {
        "float": _float,
        "tuple": _tuple,
        "dict": _dict,
        "scalar": _scalar,
        "strings": _strings,
        "array": _array,
        "tensor": _tensor,
        "forest": _forest,
        "device": _device,
        "random_state": _random_state,
        "class": _object,
    }


def _state_of(value: Any) -> dict[str, Any]:
    if isinstance(value, Enum):
        return {"value": value.value}
    if not hasattr(value, "state"):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    state: dict[str, Any] = value.state()
    return state


def _from_state(cls: Any, state: dict[str, Any]) -> Any:
    if hasattr(cls, "from_state"):
        return cls.from_state(state)
    return cls(**state)
