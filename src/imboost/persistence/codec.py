"""Values as JSON and named arrays, and back.

None, booleans, integers, finite floats, strings and lists are stored as JSON values. Every other
value is a JSON object whose first key is its kind:

=====================================================  ==========================================
``{"float": "nan"}``                                   nan, inf or -inf, which JSON does not have
``{"tuple": [...]}``                                   a tuple
``{"dict": [[key, value], ...]}``                      a dictionary, in its order
``{"scalar": ["int64", 3]}``                           a numpy scalar
``{"strings": [...], "shape": [...], "type": "str"}``  a string array; type "str" or "object"
``{"array": NAME, "order": "C"}``                      a numeric array and its memory order
``{"tensor": NAME}``                                   a torch tensor
``{"device": "cpu"}``                                  a torch device; always loaded as the CPU
``{"random_state": {...}}``                            a numpy RandomState
``{"class": NAME, "state": {...}}``                    an object, see `imboost.state`
=====================================================  ==========================================
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """Turns values into JSON and collects their arrays (C-contiguous) by name.

    Only objects of the given classes, modules by name, are encoded.
    """

    def __init__(self, classes: Mapping[str, str]) -> None:
        self.arrays: Arrays = {}
        self._classes = classes
        self._seen: dict[int, tuple[Any, str]] = {}  # arrays by identity, kept alive

    def encode(self, value: Any, path: str) -> Any:
        """Return a value as JSON; `path` names its arrays and appears in errors."""
        torch = sys.modules.get("torch")  # not imported: there are no tensors
        kind = type(value)
        if self._classes.get(kind.__name__) == kind.__module__:
            state = _state_of(value).items()
            coded = {name: self.encode(part, f"{path}.{name}") for name, part in state}
            return {"class": kind.__name__, "state": coded}
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, np.generic) and value.dtype.name in NUMBER_TYPES:
            return {"scalar": [value.dtype.name, self.encode(value.item(), path)]}
        if isinstance(value, np.str_):
            return str(value)
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        if torch and isinstance(value, torch.Tensor):
            return {"tensor": self._store(value.detach().cpu().numpy(), path)}
        if torch and isinstance(value, torch.device):
            return {"device": "cpu"}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(value.get_state(legacy=False), path)}
        if kind in (list, tuple):
            parts = [self.encode(part, f"{path}.{at}") for at, part in enumerate(value)]
            return parts if kind is list else {"tuple": parts}
        if isinstance(value, Mapping):
            pairs = [
                [self.encode(key, f"{path}.{at}.key"), self.encode(part, f"{path}.{at}")]
                for at, (key, part) in enumerate(value.items())
            ]
            return {"dict": pairs}
        raise CannotEncodeError(f"{path} is of type {kind.__name__}")

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
    """Turns JSON and arrays into values.

    Only objects of the given classes, modules by name, are created. Invalid input raises
    `KeyError`, `TypeError` or `ValueError`.
    """

    def __init__(self, classes: Mapping[str, str], arrays: Arrays) -> None:
        self._classes = classes
        self._arrays = arrays
        self._decoded: dict[tuple[str, str], NDArray[Any]] = {}  # arrays may be shared

    def decode(self, coded: Any) -> Any:
        """Return the value that was encoded."""
        match coded:
            case list():
                return [self.decode(part) for part in coded]
            case {"float": text}:
                return float(text)
            case {"tuple": parts}:
                return tuple(self.decode(part) for part in parts)
            case {"dict": pairs}:
                return {self.decode(key): self.decode(part) for key, part in pairs}
            case {"scalar": [name, value]} if name in NUMBER_TYPES:
                return np.dtype(name).type(self.decode(value))
            case {"strings": strings, "shape": shape, "type": kind}:
                types = {"object": object, "str": str}
                return np.array(strings, dtype=types[kind]).reshape(shape)
            case {"array": name, "order": order}:
                return self._array(name, order)
            case {"tensor": name}:
                import torch

                return torch.from_numpy(np.array(self._arrays[name], order="C"))
            case {"device": _}:
                import torch

                return torch.device("cpu")
            case {"random_state": coded_state}:
                state = self.decode(coded_state)
                if not 0 <= state["state"]["pos"] <= len(state["state"]["key"]):
                    # numpy does not check
                    raise ValueError("the saved RandomState is invalid: position out of range")
                source = np.random.RandomState()
                source.set_state(state)
                return source
            case {"class": name, "state": state}:
                if name not in self._classes:
                    raise ValueError(f"it names the class '{name}', which models do not contain")
                cls: Any = getattr(import_module(self._classes[name]), name)
                parts = {field: self.decode(part) for field, part in state.items()}
                return cls.from_state(parts) if hasattr(cls, "from_state") else cls(**parts)
            case dict():
                raise ValueError(f"it holds a value of unknown kind, {str(coded)!r:.40}")
        return coded

    def _array(self, name: str, order: str) -> NDArray[Any]:
        if (name, order) not in self._decoded:
            array = np.array(self._arrays[name], order="C")
            self._decoded[name, order] = array.T if order == "F" else array
        return self._decoded[name, order]


def _state_of(value: Any) -> dict[str, Any]:
    if isinstance(value, Enum):
        return {"value": value.value}
    if not hasattr(value, "state"):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    state: dict[str, Any] = value.state()
    return state
