"""How good a ranking is."""

from __future__ import annotations

from typing import Any, NamedTuple

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
