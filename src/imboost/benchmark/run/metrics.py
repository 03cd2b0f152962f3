"""How good a ranking is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score


class Quality(NamedTuple):
    """Area under the ROC curve, and average precision."""

    auc: float
    ap: float


def quality(y: NDArray[Any], scores: NDArray[Any]) -> Quality:
    """Judge scores by true labels.

    >>> import numpy as np
    >>> quality(np.array([0, 0, 1]), np.array([0.1, 0.2, 0.3]))
    Quality(auc=1.0, ap=1.0)
    """
    return Quality(float(roc_auc_score(y, scores)), float(average_precision_score(y, scores)))


def calibration_error(y: NDArray[Any], probability: NDArray[Any], n_bins: int = 10) -> float:
    """Return the expected calibration error: how far probabilities are from what was true.

    Rows fall into bins of about the same probability; the error is the mean distance between a
    bin's mean probability and its share of outliers, weighted by the bins' rows.

    >>> import numpy as np
    >>> round(calibration_error(np.array([0, 0, 0, 1]), np.array([0.1, 0.1, 0.1, 0.9])), 3)
    0.1
    """
    bins = np.minimum((probability * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, probability - y, minlength=n_bins)
    return float(np.abs(gaps).sum() / len(y))
