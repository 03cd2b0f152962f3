"""Write a trained detector as one ONNX graph, from the columns of a table to the score."""

from __future__ import annotations

import logging
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from imboost.arrays import Floats
from imboost.detectors import BaseDetector
from imboost.detectors.table_detector import TableDetector
from imboost.errors import PersistenceError, SettingError, require
from imboost.onnx.inputs import onnx_inputs, rows_like_training
from imboost.onnx.scorer import MatrixScorer, TableScorer, matrix_scorer
from imboost.stats.score_errors import TOLERANCE, relative_errors
from imboost.tables.encoder import CategoryEncoder

if TYPE_CHECKING:
    from onnx import ModelProto

    Inputs = dict[str, NDArray[Any]]
    Categories = dict[str, CategoryEncoder]


def export_onnx(detector: TableDetector | BaseDetector, path: Path | str) -> None:
    """Write a graph from columns, or from a matrix, to the output `score`.

    Before the file is written, ONNX Runtime must reproduce the detector's scores of rows that
    resemble the training rows.

    Parameters
    ----------
    detector : TableDetector or BaseDetector
        A distilled detector, or one with a variational autoencoder: `IMBoost`, `ALTBI`, `ODIM`.
    path : path
        The file to write.

    Raises
    ------
    SettingError
        If the detector, or a column, cannot be exported.
    PersistenceError
        If the graph does not score as the detector does.
    MissingPackageError
        If onnx, onnxruntime or onnxscript is not installed.
    """
    require("The export to ONNX", "export", "onnx", "onnxruntime", "onnxscript")
    check_is_fitted(detector)
    from onnx import helper

    scorer: MatrixScorer | TableScorer
    if isinstance(detector, TableDetector):
        encoders = detector.encoder_.encoders
        for name in ("", "score"):
            if name in encoders:
                raise SettingError(f"A column called '{name}' cannot be exported; rename it.")
        scorer = TableScorer(detector.encoder_, matrix_scorer(detector.detector_))
    else:
        encoders, scorer = {}, matrix_scorer(detector)
    categories = {
        name: encoder for name, encoder in encoders.items() if isinstance(encoder, CategoryEncoder)
    }
    rows = rows_like_training(detector)
    inputs = onnx_inputs(detector, rows)
    model = _export_module(scorer, inputs, categories)
    _name_inputs(model, inputs, categories)
    facts = {
        "imboost": version("imboost"),
        "model": detector.model_name,
        "threshold": repr(float(detector.threshold_)),
    }
    helper.set_model_props(model, facts)
    content = model.SerializeToString()
    _check_scores(content, inputs, detector.decision_function(rows), type(detector).__name__)
    Path(path).write_bytes(content)


def _export_module(
    scorer: MatrixScorer | TableScorer, inputs: Inputs, categories: Categories
) -> ModelProto:
    """Return the graph of a torch module; its inputs are numeric columns, then categories."""
    rows = {0: torch.export.Dim("rows")}
    numbers = [torch.from_numpy(cells) for name, cells in inputs.items() if name not in categories]
    columns = [torch.zeros(len(inputs[name]), dtype=torch.int64) for name in categories]
    arguments: tuple[Any, ...] = (numbers, columns)
    shapes: tuple[Any, ...] = ([rows] * len(numbers), [rows] * len(columns))
    if isinstance(scorer, MatrixScorer):
        arguments, shapes = (numbers[0],), (rows,)
    logging.getLogger("torch.onnx").setLevel(
        logging.ERROR
    )  # it warns of missing packages that are not needed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's warnings about its own code
        program = torch.export.export(scorer.eval(), arguments, dynamic_shapes=shapes)
        exported: Any = torch.onnx.export(
            program, dynamo=True, custom_translation_table=_translations(), verbose=False
        )
    model: ModelProto = exported.model_proto
    return model


def _translations() -> dict[Any, Any]:
    """Return ONNX operators for functions that torch exports less precisely."""
    from onnxscript import opset18

    op: Any = opset18  # its annotations do not accept numbers

    def leaky_relu(x: Any, slope: float = 0.01) -> Any:
        # ONNX Runtime has no LeakyRelu in double precision.
        return op.Max(x, op.Mul(x, slope))

    def log_sigmoid(x: Any) -> Any:
        # torch takes the logarithm of Sigmoid, which is -inf for large negative numbers.
        near_one = op.Add(op.CastLike(1.0, x), op.Exp(op.Neg(op.Abs(x))))
        return op.Neg(op.Add(op.Relu(op.Neg(x)), op.Log(near_one)))

    aten = torch.ops.aten
    return {aten.leaky_relu.default: leaky_relu, aten.log_sigmoid.default: log_sigmoid}


def _name_inputs(model: ModelProto, inputs: Inputs, categories: Categories) -> None:
    """Name the inputs after columns, take categories as strings, and call the output `score`."""
    import onnx
    from onnx import TensorProto, helper

    # Longer than every column name, so that no name inside the graph is that of a column.
    onnx.compose.add_prefix(model, "value" + "_" * max(map(len, inputs)), inplace=True)
    graph = model.graph
    nodes, values = [], []
    names = sorted(inputs, key=lambda name: name in categories)  # the order of the arguments
    for name, inner in zip(names, graph.input, strict=True):
        kind = TensorProto.STRING if name in categories else TensorProto.DOUBLE
        values.append(helper.make_tensor_value_info(name, kind, ["rows", *inputs[name].shape[1:]]))
        if name not in categories:
            nodes.append(helper.make_node("Identity", [name], [inner.name]))
            continue
        columns = categories[name].column_of_category
        node = helper.make_node(
            "LabelEncoder",
            [name],
            [inner.name],
            domain="ai.onnx.ml",
            keys_strings=list(columns),
            values_int64s=list(columns.values()),
            default_int64=len(categories[name].categories),  # the rarest categories' column
        )
        nodes.append(node)
    nodes += graph.node
    nodes.append(helper.make_node("Identity", [graph.output[0].name], ["score"]))
    output = helper.make_tensor_value_info("score", TensorProto.DOUBLE, ["rows"])
    for node in nodes:
        del node.metadata_props[:]  # names of source files, recorded by torch
    for field, new in ((graph.node, nodes), (graph.input, values), (graph.output, [output])):
        copies = list(new)
        del field[:]
        field.extend(copies)
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))


def _check_scores(model: bytes, inputs: Inputs, expected: Floats, name: str) -> None:
    """Raise unless ONNX Runtime returns the expected scores."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    [scores] = session.run(["score"], inputs)
    error = relative_errors(scores, expected).max()
    if not error <= TOLERANCE:  # also if it is nan
        raise PersistenceError(
            f"The graph of {name} does not score as the detector does: one score differs by "
            f"{error:.2g}. It was not written."
        )
