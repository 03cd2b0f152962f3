"""How well scores rank labelled outliers above labelled inliers."""

from __future__ import annotations

from sklearn.metrics import average_precision_score, roc_auc_score

from imboost.arrays import Floats
from imboost.labels import OUTLIER, UNLABELLED, Labels, has_both_classes


def auc_and_ap(labels: Labels, scores: Floats) -> tuple[float, float]:
    """Return the area under the ROC curve and the average precision of the labelled rows.

    Both are nan without labels of both classes.

    >>> import numpy as np
    >>> auc_and_ap(np.array([0, -1, 0, 1]), np.array([0.1, 0.9, 0.2, 0.3]))
    (1.0, 1.0)
    """
    if not has_both_classes(labels):
        return float("nan"), float("nan")
    known = labels != UNLABELLED
    is_outlier, known_scores = labels[known] == OUTLIER, scores[known]
    return (
        float(roc_auc_score(is_outlier, known_scores)),
        float(average_precision_score(is_outlier, known_scores)),
    )
