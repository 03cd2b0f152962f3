"""Write a trained detector as one ONNX graph, from the columns of a table to the score."""

from __future__ import annotations

import logging
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from imboost.detectors import BaseDetector
from imboost.detectors.table_detector import TableDetector
from imboost.errors import PersistenceError, SettingError, require
from imboost.onnx.scorer import TableScorer, matrix_scorer
from imboost.stats.score_errors import TOLERANCE, relative_errors
from imboost.tables.encoder import MISSING, CategoryEncoder, DatetimeEncoder, NumberEncoder
from imboost.tables.frames import to_arrow

if TYPE_CHECKING:
    from onnx import ModelProto

    Inputs = dict[str, NDArray[Any]]
    Categories = dict[str, CategoryEncoder]

MATRIX = "rows"  # the only input of a detector for matrices
UNSEEN = "(never seen)"  # stands for categories that were not in the training table
FAR_AWAY = 1e8  # a number, or a time in seconds, outside the range of most columns


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
    import onnxruntime

    from onnx import helper

    scorer: torch.nn.Module
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
    rows = _rows_like_training(detector)
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
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    [scores] = session.run(["score"], inputs)
    error = relative_errors(scores, detector.decision_function(rows)).max()
    if not error <= TOLERANCE:  # also if it is nan
        raise PersistenceError(
            f"The graph of {type(detector).__name__} does not score as the detector does: one "
            f"score differs by {error:.2g}. It was not written."
        )
    Path(path).write_bytes(content)


def onnx_inputs(detector: TableDetector | BaseDetector, X: Any) -> dict[str, NDArray[Any]]:
    """Return rows as the inputs of the graph that `export_onnx` writes.

    Parameters
    ----------
    detector : TableDetector or BaseDetector
        The detector that was exported.
    X : table or array
        Rows in a form that its `decision_function` takes.

    Returns
    -------
    dict of str to array
        Numbers as doubles, nan where missing; datetimes as seconds since 1970; categories as
        strings, "(missing)" where missing. For a detector for matrices, the matrix.
    """
    if not isinstance(detector, TableDetector):
        return {MATRIX: np.asarray(X, dtype=np.float64)}
    parsed = detector.schema_.parse(to_arrow(X))
    return {
        name: values
        if isinstance(values, np.ndarray)
        else np.array(pc.fill_null(values, MISSING).to_pylist(), dtype=object)
        for name, values in ((name, parsed[name]) for name in detector.encoder_.encoders)
    }


def _rows_like_training(detector: TableDetector | BaseDetector) -> Any:
    """Return rows whose encoding resembles that of training rows.

    Tables have two more rows: one of missing cells, and one of unseen categories and extreme
    values.
    """
    if not isinstance(detector, TableDetector):
        return detector._fingerprint_rows.astype(np.float64)
    encoder, matrix = detector.encoder_, detector.detector_._fingerprint_rows
    first = {part.source: part.columns for part in reversed(encoder.layout.features)}
    columns = {}
    for name, one in encoder.encoders.items():
        part = matrix[:, first[name]]
        if isinstance(one, CategoryEncoder):
            known = [*one.categories, *[UNSEEN] * one.n_frequency_bins]
            cells = [known[column] for column in part.argmax(axis=1)]
            columns[name] = pa.array([*cells, None, UNSEEN], pa.string())
        elif isinstance(one, NumberEncoder | DatetimeEncoder):
            values = np.array([*one.scaling.inverse_transform(part[:, 0]), np.nan, FAR_AWAY])
            missing = np.isnan(values)
            if isinstance(one, DatetimeEncoder):
                values = (np.where(missing, 0.0, values) * 1e6).astype("datetime64[us]")
            columns[name] = pa.array(values, mask=missing)
    return pa.table(columns)


def _export_module(scorer: torch.nn.Module, inputs: Inputs, categories: Categories) -> ModelProto:
    """Return the graph of a torch module; its inputs are numeric columns, then categories."""
    rows = {0: torch.export.Dim("rows")}
    numbers = [torch.from_numpy(cells) for name, cells in inputs.items() if name not in categories]
    columns = [torch.zeros(len(inputs[name]), dtype=torch.int64) for name in categories]
    arguments: tuple[Any, ...] = (numbers, columns)
    shapes: tuple[Any, ...] = ([rows] * len(numbers), [rows] * len(columns))
    # It warns of missing packages that are not needed.
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
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
