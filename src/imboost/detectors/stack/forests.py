"""Predictions of scikit-learn's forests, quick for few rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def predict_forest(forest: Any, X: NDArray[Any]) -> Floats:
    """Return the mean prediction of the trees, of shape (n_rows, n_outputs).

    The outputs are the probabilities of the classes, or the one predicted number. The forest's
    own methods return the same; for few rows their checks take ten times as long as the trees.
    """
    inputs = np.ascontiguousarray(X, dtype=np.float32)
    total = sum(tree.tree_.predict(inputs) for tree in forest.estimators_)
    return np.asarray(total / len(forest.estimators_))
