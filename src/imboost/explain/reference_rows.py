"""The rows that others are compared to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GUESSED_SHARE = 0.9
"""Of rows that are usual at least, where the threshold is a guess."""


def reference_rows(
    scores: NDArray[np.float64], threshold: float, *, is_guess: bool = False
) -> NDArray[np.bool_]:
    """Return which training rows are usual: those not called outliers.

    If these are less than half of the rows, it is the half with the lower scores; where the
    threshold is a guess, if they are less than nine tenths, it is these.
    """
    least = float(np.quantile(scores, GUESSED_SHARE if is_guess else 0.5))
    return np.asarray(~(scores > max(threshold, least)))
