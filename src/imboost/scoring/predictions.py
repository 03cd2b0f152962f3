"""Scores, probabilities and decisions for the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
import pyarrow as pa

from imboost.arrays import Floats, Mask
from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for some rows, and the time spent on encoding them and in the model."""

    scores: Floats
    probabilities: Floats
    is_outlier: Mask
    encoding_seconds: float = 0.0
    model_seconds: float = 0.0


def predict_table(detector: TableDetector, table: pa.Table) -> Predictions:
    """Score rows once and derive probabilities and decisions from the scores."""
    if table.num_rows == 0:
        return Predictions(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_))
    start = perf_counter()
    matrix = detector.encode(table)
    if not detector.detector_.allow_nan and np.isnan(matrix).any():
        name = type(detector.detector_).__name__
        raise DataError(f"{name} cannot score rows with missing numbers or dates.")
    encoded = perf_counter()
    scores = detector.detector_.decision_function(matrix)
    return Predictions(
        scores=scores,
        probabilities=detector.decision_.probability(scores),
        is_outlier=scores > detector.threshold_,
        encoding_seconds=encoded - start,
        model_seconds=perf_counter() - encoded,
    )
