"""Metrics of scores and probabilities against the true labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score


def auc_and_ap(y: NDArray[Any], scores: NDArray[Any]) -> tuple[float, float]:
    """Return the area under the ROC curve and the average precision.

    >>> import numpy as np
    >>> auc_and_ap(np.array([0, 0, 1]), np.array([0.1, 0.2, 0.3]))
    (1.0, 1.0)
    """
    return float(roc_auc_score(y, scores)), float(average_precision_score(y, scores))


def calibration_error(y: NDArray[Any], probability: NDArray[Any], n_bins: int = 10) -> float:
    """Return the expected calibration error with bins of equal width.

    This is the mean, weighted by the rows of each bin, of the absolute difference between the
    bin's mean probability and its fraction of outliers.

    >>> import numpy as np
    >>> round(calibration_error(np.array([0, 0, 0, 1]), np.array([0.1, 0.1, 0.1, 0.9])), 3)
    0.1
    """
    bins = np.minimum((probability * n_bins).astype(np.int64), n_bins - 1)
    differences = np.bincount(bins, probability - y, minlength=n_bins)
    return float(np.abs(differences).sum() / len(y))
