"""Rows as the inputs of an exported graph take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.detectors import BaseDetector
from imboost.detectors.table_detector import TableDetector
from imboost.tables.column_encoders import (
    MISSING,
    CategoryEncoder,
    DatetimeEncoder,
    NumberEncoder,
)
from imboost.tables.encoder import TableEncoder
from imboost.tables.frames import to_arrow

MATRIX = "rows"
"""The only input of a detector of matrices."""

UNHEARD_OF = "(never seen)"
"""Stands for levels that were not in the training table."""


OUT_OF_RANGE = 1e8
"""A number, or a time, that is far from most."""


def onnx_inputs(detector: TableDetector | BaseDetector, X: Any) -> dict[str, NDArray[Any]]:
    """Return rows as the inputs of the graph that `export_onnx` writes.

    Parameters
    ----------
    detector : TableDetector or BaseDetector
        The detector that was exported.
    X : table or array
        What its `decision_function` takes.

    Returns
    -------
    dict of str to array
        Doubles for numbers (nan where missing) and times (seconds since 1970), text for
        categories ("(missing)" where missing; yes and no as the training table wrote them);
        for a detector of matrices, the matrix.
    """
    if not isinstance(detector, TableDetector):
        return {MATRIX: np.asarray(X, dtype=np.float64)}
    parsed = detector.schema_.parse(to_arrow(X))
    return {
        name: values
        if isinstance(values, np.ndarray)
        else np.array(pc.fill_null(values, MISSING).to_pylist(), dtype=object)
        for name, values in parsed.items()
    }


def like_training(encoder: TableEncoder, matrix: NDArray[np.float64]) -> pa.Table:
    """Return a table whose rows are encoded about like those of a matrix.

    Two rows are added: one of which all cells are missing, and one that is far from all others.
    """
    first = {part.source: part.columns for part in reversed(encoder.layout.features)}
    columns = {}
    for name, one in encoder.encoders.items():
        part = matrix[:, first[name]]
        if isinstance(one, CategoryEncoder):
            own = [*one.categories, *[UNHEARD_OF] * one.n_frequency_bins]
            levels = [own[place] for place in part.argmax(axis=1)]
            columns[name] = pa.array([*levels, None, UNHEARD_OF], pa.string())
        elif isinstance(one, NumberEncoder | DatetimeEncoder):
            values = np.array([*one.scaling.inverse_transform(part[:, 0]), np.nan, OUT_OF_RANGE])
            missing = np.isnan(values)
            if isinstance(one, DatetimeEncoder):
                values = (np.where(missing, 0.0, values) * 1e6).astype("datetime64[us]")
            columns[name] = pa.array(values, mask=missing)
    return pa.table(columns)
