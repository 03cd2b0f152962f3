"""Reference rows: the training rows that a row is compared with in an explanation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def reference_rows(
    scores: NDArray[np.float64], threshold: float, *, is_estimated: bool = False
) -> NDArray[np.bool_]:
    """Return a mask of the reference rows: the training rows not called outliers.

    The half of the rows with the lowest scores always belongs to them. If the threshold is only
    estimated, the lowest nine tenths do, so that a bad estimate does not distort them.
    """
    minimum = float(np.quantile(scores, 0.9 if is_estimated else 0.5))
    return np.asarray(~(scores > max(threshold, minimum)))
