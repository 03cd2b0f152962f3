"""Scorers for scikit-learn's cross-validation and searches, on tables with few labels.

Rows without a label (-1) are trained on and left out of the score. Scores are nan where a fold
lacks labelled rows of a class; `sklearn.model_selection.StratifiedKFold` distributes them.
"""

from __future__ import annotations

from typing import Any

from imboost.detectors.detector import Detector
from imboost.labels import check_labels
from imboost.stats.ranks import auc_and_ap

__all__ = ["average_precision", "roc_auc"]


def roc_auc(detector: Detector, X: Any, y: Any) -> float:
    """Return the area under the ROC curve of the labelled rows.

    >>> from sklearn.model_selection import StratifiedKFold, cross_val_score
    >>> from imboost import make_detector
    >>> from imboost.datasets import planted_outliers
    >>> data = planted_outliers(300, 4, seed=1)
    >>> y = data.y.copy()
    >>> y[100:] = -1
    >>> detector = make_detector("trees", random_state=0)
    >>> cross_val_score(detector, data.X, y, scoring=roc_auc, cv=StratifiedKFold(2)).shape
    (2,)
    """
    scores = detector.decision_function(X)
    return auc_and_ap(check_labels(y, len(scores)), scores)[0]


def average_precision(detector: Detector, X: Any, y: Any) -> float:
    """Return the average precision of the labelled rows."""
    scores = detector.decision_function(X)
    return auc_and_ap(check_labels(y, len(scores)), scores)[1]
