"""Rows as inputs of an exported graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.detectors import BaseDetector
from imboost.detectors.table_detector import TableDetector
from imboost.tables.encoder import (
    MISSING,
    CategoryEncoder,
    DatetimeEncoder,
    NumberEncoder,
)
from imboost.tables.frames import to_arrow

MATRIX = "rows"  # the only input of a detector for matrices
UNSEEN = "(never seen)"  # stands for categories that were not in the training table
FAR_AWAY = 1e8  # a number, or a time in seconds, outside the range of most columns


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


def rows_like_training(detector: TableDetector | BaseDetector) -> Any:
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
