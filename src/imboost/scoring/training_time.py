"""Estimate how long a training takes, from trainings on small samples."""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from imboost.detectors.detector import Detector
    from imboost.labels import Labels
    from imboost.tables.schema import Schema

SAMPLES = (500, 2000)  # rows of the two samples
MIN_ROWS = 10_000  # smaller tables are trained in seconds, and get no estimate
EXPONENTS = (0.3, 1.2)  # limits of the power of the number of rows by which the time grows


def estimate_seconds(
    detector: Detector,
    table: pa.Table,
    labels: Labels | None = None,
    schema: Schema | None = None,
) -> float | None:
    """Return the expected seconds of a training; None if they cannot be estimated.

    The time is a power of the number of rows, which two trainings on samples show. The trainings
    are of copies of the detector.
    """
    if table.num_rows < MIN_ROWS:
        return None
    try:
        first, second = (_time_sample(detector, table, labels, schema, n) for n in SAMPLES)
    except ValueError:  # a sample may hold one value of a column, or labels of one class
        return None
    power = math.log(second / first) / math.log(SAMPLES[1] / SAMPLES[0])
    power = min(max(power, EXPONENTS[0]), EXPONENTS[1])
    return float(second * (table.num_rows / SAMPLES[1]) ** power)


def _time_sample(
    detector: Detector,
    table: pa.Table,
    labels: Labels | None,
    schema: Schema | None,
    n_rows: int,
) -> float:
    import numpy as np
    from sklearn.base import clone

    rows = np.linspace(0, table.num_rows - 1, n_rows).astype(np.int64)
    sample = table.take(rows)
    parsed = {} if schema is None else {"schema": (schema, schema.parse(sample))}
    start = perf_counter()
    clone(detector).fit(sample, None if labels is None else labels[rows], **parsed)
    return perf_counter() - start
