"""Values as JSON and named arrays, and back; nothing else is read or made.

None, truths, whole numbers, finite numbers, text and lists are themselves in JSON. Everything
else is an object that says what it is:

======================================  =====================================================
``{"float": "nan"}``                    a number that JSON does not know: nan, inf or -inf
``{"tuple": [...]}``                    a tuple
``{"dict": [[key, value], ...]}``       a dictionary, in its order
``{"scalar": ["int64", 3]}``            a number of numpy's
``{"strings": [...], "shape": [...]}``  an array of text
``{"array": NAME, "order": "C"}``       an array of numbers, and how it lay in memory
``{"tensor": NAME}``                    a torch tensor
``{"class": NAME, "fields": {...}}``    an object of a class in `CLASSES`
======================================  =====================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from imboost.persistence.serializers import Way

Arrays = dict[str, NDArray[Any]]

NUMBER_TYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
)
"""What numpy arrays and numbers may be made of."""


class CannotEncodeError(TypeError):
    """A value of a kind that bundles do not hold."""


class Encoder:
    """Turns values into JSON and gathers their arrays.

    Parameters
    ----------
    classes : dict of type to Way
        The classes of objects that are taken apart.

    Attributes
    ----------
    arrays : dict of str to array
        All arrays of the values encoded so far, C-contiguous.
    """

    def __init__(self, classes: Mapping[type, Way]) -> None:
        self.arrays: Arrays = {}
        self._classes = classes
        self._seen: dict[int, tuple[Any, str]] = {}  # arrays by identity, kept alive

    def encode(self, value: Any, path: str) -> Any:
        """Return a value as JSON; `path` says where it stands, and names its arrays."""
        if type(value) in self._classes:
            way = self._classes[type(value)]
            fields = {
                name: self.encode(part, f"{path}.{name}")
                for name, part in way.take_apart(value).items()
            }
            return {"class": type(value).__name__, "fields": fields}
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
                raise CannotEncodeError(f"{path} is an array of objects that are not text")
            kind = "object" if array.dtype.kind == "O" else "str"
            shape = list(array.shape)
            return {"strings": [str(string) for string in strings], "shape": shape, "type": kind}
        # Products of matrices depend, in their last digits, on how these lie in memory.
        is_turned = array.ndim > 1 and abs(array.strides[0]) < abs(array.strides[-1])
        if id(array) not in self._seen:
            name = self._store(array.T if is_turned else array, path)
            self._seen[id(array)] = (array, name)
        return {"array": self._seen[id(array)][1], "order": "F" if is_turned else "C"}

    def _store(self, array: NDArray[Any], path: str) -> str:
        if array.dtype.name not in NUMBER_TYPES:
            raise CannotEncodeError(f"{path} is an array of {array.dtype.name}")
        native = array.dtype.newbyteorder("=")
        self.arrays[path] = np.array(array, dtype=native, order="C")
        return path


class Decoder:
    """Makes values from JSON and arrays.

    Whatever does not fit raises one of `KeyError`, `TypeError` and `ValueError`.

    Parameters
    ----------
    classes : dict of type to Way
        The classes of objects that may be made; no other is looked up anywhere.
    arrays : dict of str to array
        The arrays by name.
    """

    def __init__(self, classes: Mapping[type, Way], arrays: Arrays) -> None:
        self._classes = {made.__name__: (made, way) for made, way in classes.items()}
        self._arrays = arrays
        self._made: dict[tuple[str, str], NDArray[Any]] = {}

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
            raise ValueError(f"no number is of type {name}")
        return np.dtype(name).type(self.decode(value))

    def _strings(self, coded: dict[str, Any]) -> NDArray[Any]:
        kind = {"object": object, "str": str}[coded["type"]]
        return np.array(coded["strings"], dtype=kind).reshape(coded["shape"])

    def _array(self, coded: dict[str, Any]) -> NDArray[Any]:
        key = (coded["array"], coded["order"])
        if key not in self._made:
            array = np.array(self._arrays[key[0]], order="C")
            self._made[key] = array.T if key[1] == "F" else array
        return self._made[key]

    def _tensor(self, coded: dict[str, Any]) -> torch.Tensor:
        return torch.from_numpy(np.array(self._arrays[coded["tensor"]], order="C"))

    def _object(self, coded: dict[str, Any]) -> Any:
        name = coded["class"]
        if name not in self._classes:
            raise ValueError(f"it names the class '{name}', which no bundle holds")
        made, way = self._classes[name]
        fields = {field: self.decode(part) for field, part in coded["fields"].items()}
        return way.put_together(made, fields)

    _KINDS: ClassVar[dict[str, Callable[[Any, dict[str, Any]], Any]]] = {
        "float": _float,
        "tuple": _tuple,
        "dict": _dict,
        "scalar": _scalar,
        "strings": _strings,
        "array": _array,
        "tensor": _tensor,
        "class": _object,
    }
