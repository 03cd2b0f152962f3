"""Predictions of scikit-learn's forests, quick for few rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats


def predict_forest(forest: Any, X: NDArray[Any]) -> Floats:
    """Return the probability of the second class, the mean over the trees.

    The forest's own method returns the same; for few rows its checks take ten times as long as
    the trees.
    """
    inputs, total = np.ascontiguousarray(X, dtype=np.float32), np.zeros(len(X))
    for estimator in forest.estimators_:
        total += estimator.tree_.value[:, 0, 1][estimator.tree_.apply(inputs)]
    return total / len(forest.estimators_)
