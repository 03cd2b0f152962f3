"""An ONNX graph as it is written: wires that calculate like arrays.

Everything is computed in double precision, as in the detectors themselves, with the operators
that ONNX Runtime has in that precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx import TensorProto, checker, helper, numpy_helper

if TYPE_CHECKING:
    from onnx import ModelProto

OPSETS = {"": 18, "ai.onnx.ml": 3}
IR_VERSION = 10
"""Old enough for the ONNX Runtimes of recent years."""


class Graph:
    """The nodes of a graph, as they are added.

    Parameters
    ----------
    numbers : dict of str to shape
        Inputs of doubles.
    texts : dict of str to shape
        Inputs of text.
    """

    def __init__(
        self,
        numbers: Mapping[str, Sequence[str | int]],
        texts: Mapping[str, Sequence[str | int]] | None = None,
    ) -> None:
        kinds = ((TensorProto.DOUBLE, numbers), (TensorProto.STRING, texts or {}))
        self._inputs = {
            name: helper.make_tensor_value_info(name, kind, list(shape))
            for kind, shapes in kinds
            for name, shape in shapes.items()
        }
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._n_names = 0

    def input(self, name: str) -> Wire:
        """Return the wire of an input."""
        return Wire(self, self._inputs[name].name)

    def constant(self, value: Any) -> Wire:
        """Return a wire that always has the same value."""
        name = self._new_name()
        self._constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return Wire(self, name)

    def add(self, operator: str, *inputs: Any, domain: str = "", **attributes: Any) -> Wire:
        """Add a node and return the wire that leaves it; inputs are wires, arrays or numbers."""
        wires = [value if isinstance(value, Wire) else self.constant(value) for value in inputs]
        name = self._new_name()
        entering = [wire.name for wire in wires]
        node = helper.make_node(operator, entering, [name], domain=domain, **attributes)
        self._nodes.append(node)
        return Wire(self, name)

    def model(self, score: Wire, facts: Mapping[str, str]) -> ModelProto:
        """Return the model whose output `score` has the value of a wire, one double a row."""
        nodes = [*self._nodes, helper.make_node("Identity", [score.name], ["score"])]
        output = helper.make_tensor_value_info("score", TensorProto.DOUBLE, ["rows"])
        graph = helper.make_graph(
            nodes, "imboost", list(self._inputs.values()), [output], self._constants
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(*opset) for opset in OPSETS.items()],
            ir_version=IR_VERSION,
            producer_name="imboost",
        )
        helper.set_model_props(model, dict(facts))
        checker.check_model(model)
        return model

    def _new_name(self) -> str:
        self._n_names += 1
        name = f"value {self._n_names}"
        return self._new_name() if name in self._inputs else name


class Wire:
    """A value in a graph; calculating with it adds nodes. Plain numbers count as doubles."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph = graph
        self.name = name

    def __add__(self, other: Any) -> Wire:
        return self._combine("Add", other)

    def __sub__(self, other: Any) -> Wire:
        return self._combine("Sub", other)

    def __mul__(self, other: Any) -> Wire:
        return self._combine("Mul", other)

    def __truediv__(self, other: Any) -> Wire:
        return self._combine("Div", other)

    def __lt__(self, other: Any) -> Wire:
        return self._combine("Less", other)

    def __ge__(self, other: Any) -> Wire:
        return self._combine("GreaterOrEqual", other)

    def __neg__(self) -> Wire:
        return self.apply("Neg")

    def apply(self, operator: str, *others: Any, **attributes: Any) -> Wire:
        """Return what an operator makes of the value, and of others after it."""
        return self.graph.add(operator, self, *others, **attributes)

    def at_least(self, limit: Any) -> Wire:
        """Return the larger of two values."""
        return self._combine("Max", limit)

    def at_most(self, limit: Any) -> Wire:
        """Return the smaller of two values."""
        return self._combine("Min", limit)

    def clip(self, low: float, high: float) -> Wire:
        """Return the value between two limits."""
        return self.at_least(low).at_most(high)

    def square(self) -> Wire:
        """Return the value times itself."""
        return self * self

    def sum(self, axis: int, *, keep: bool = False) -> Wire:
        """Return the sum along an axis."""
        return self.apply("ReduceSum", np.array([axis]), keepdims=int(keep))

    def mean(self, axis: int, *, keep: bool = False) -> Wire:
        """Return the mean along an axis."""
        return self.apply("ReduceMean", np.array([axis]), keepdims=int(keep))

    def reshape(self, *shape: int) -> Wire:
        """Return the value in another shape; 0 keeps a dimension, -1 is what remains."""
        return self.apply("Reshape", np.array(shape))

    def turned(self) -> Wire:
        """Return a matrix with rows and columns exchanged."""
        return self.apply("Transpose", perm=[1, 0])

    def slice(self, start: int, stop: int, axis: int = 0) -> Wire:
        """Return the parts between two places along an axis."""
        return self.apply("Slice", *(np.array([number]) for number in (start, stop, axis)))

    def take(self, places: Any, axis: int = 0) -> Wire:
        """Return the parts at some places along an axis."""
        return self.apply("Gather", places, axis=axis)

    def to_doubles(self) -> Wire:
        """Return truths or whole numbers as doubles."""
        return self.apply("Cast", to=TensorProto.DOUBLE)

    def to_whole(self) -> Wire:
        """Return truths or doubles as whole numbers of 64 bits."""
        return self.apply("Cast", to=TensorProto.INT64)

    def rounded(self) -> Wire:
        """Return doubles rounded to single precision."""
        return self.apply("Cast", to=TensorProto.FLOAT).to_doubles()

    def asinh(self) -> Wire:
        """Return the inverse of the hyperbolic sine."""
        size = self.apply("Abs")
        return self.apply("Sign") * (size + (size.square() + 1.0).apply("Sqrt")).apply("Log")

    def log_sigmoid(self) -> Wire:
        """Return the logarithm of the logistic function, without overflow."""
        beyond = ((-self.apply("Abs")).apply("Exp") + 1.0).apply("Log")
        return self.at_most(0.0) - beyond

    def _combine(self, operator: str, other: Any) -> Wire:
        return self.apply(operator, float(other) if isinstance(other, int) else other)


def where(condition: Wire, chosen: Any, other: Any) -> Wire:
    """Return the chosen value where the condition holds, and the other elsewhere."""
    return condition.apply("Where", chosen, other)


def concat(wires: Sequence[Wire], axis: int) -> Wire:
    """Return values side by side along an axis."""
    return wires[0].apply("Concat", *wires[1:], axis=axis) if len(wires) > 1 else wires[0]
