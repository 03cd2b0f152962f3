"""The rows that others are compared to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def usual_rows(scores: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Return which training rows are usual: those not called outliers.

    If these are less than half of the rows, it is the half with the lower scores.
    """
    return np.asarray(~(scores > max(threshold, float(np.median(scores)))))
