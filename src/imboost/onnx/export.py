"""Write a trained detector as one ONNX graph, from the columns of a table to the score."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from imboost.detectors import BaseDetector
from imboost.detectors.deep.generative import GenerativeDetector
from imboost.detectors.table_detector import TableDetector
from imboost.errors import MissingPackageError, PersistenceError, SettingError
from imboost.models import MLPVAE
from imboost.onnx.inputs import MATRIX, like_training, onnx_inputs

if TYPE_CHECKING:
    from imboost.onnx.graph import Wire

PACKAGES = ("onnx", "onnxruntime")
TOLERANCE = 1e-5
"""How far a score may be from the detector's own, in its size or in 1."""

WHY_NOT = {"Stack": "it parts rows by the bits of their values, which few runtimes can read"}


def export_onnx(detector: TableDetector | BaseDetector, path: Path | str) -> None:
    """Write a graph from columns, or from a matrix, to the output `score`; and check it.

    Before it is written, ONNX Runtime scores rows like those of the training table with it.

    Parameters
    ----------
    detector : TableDetector or BaseDetector
        With a variational autoencoder: `IMBoost`, `ALTBI` or `ODIM`.
    path : path
        Where the graph goes.

    Raises
    ------
    SettingError
        If a part of the detector has no ONNX operators.
    PersistenceError
        If the graph does not score as the detector does.
    MissingPackageError
        If onnx or onnxruntime is not installed.
    """
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise MissingPackageError("The export to ONNX", missing, extra="export")
    check_is_fitted(detector)
    from imboost.onnx.columns import table_graph
    from imboost.onnx.graph import Graph

    if isinstance(detector, TableDetector):
        trained = detector.detector_
        graph, matrix = table_graph(detector.encoder_)
    else:
        trained = detector
        graph = Graph({MATRIX: ["rows", detector.n_features_in_]})
        matrix = graph.input(MATRIX)
    facts = {"imboost": version("imboost"), "threshold": repr(float(trained.threshold_))}
    model = graph.model(_score(trained, matrix), facts).SerializeToString()
    _check(detector, model)
    Path(path).write_bytes(model)


def _score(detector: BaseDetector, matrix: Wire) -> Wire:
    from imboost.onnx.network import mean_loss, scaled

    name = type(detector).__name__
    if not isinstance(detector, GenerativeDetector):
        reason = WHY_NOT.get(name, "only IMBoost, ALTBI and ODIM are written as graphs")
        raise SettingError(f"{name} cannot be exported to ONNX: {reason}.")
    if not isinstance(detector._scorer, MLPVAE):
        raise SettingError(
            f"{name} cannot be exported to ONNX: its backbone is '{detector.backbone}', and only "
            "'vae' is written as a graph."
        )
    return mean_loss(detector._scorer, detector._noise, scaled(detector._scaling, matrix))


def _check(detector: TableDetector | BaseDetector, model: bytes) -> None:
    """Raise unless the graph scores rows as the detector does."""
    import onnxruntime

    if isinstance(detector, TableDetector):
        rows: Any = like_training(detector.encoder_, detector.detector_._fingerprint_rows)
    else:
        rows = detector._fingerprint_rows.astype(np.float64)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    [found] = session.run(["score"], onnx_inputs(detector, rows))
    expected = detector.decision_function(rows)
    misses = np.abs(found - expected) / np.maximum(np.abs(expected), 1.0)
    if not misses.max() <= TOLERANCE:
        raise PersistenceError(
            f"The graph of {type(detector).__name__} does not score as the detector does: one "
            f"score is {misses.max():.2g} off. It was not written."
        )
