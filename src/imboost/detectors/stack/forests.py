"""Predictions of scikit-learn's forests: quick for few rows, and out of bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def predict_forest(forest: Any, X: Floats) -> Floats:
    """Return the mean prediction of the trees, of shape (n_rows, n_outputs).

    The outputs are the probabilities of the classes, or the one predicted number. The forest's
    own methods return the same; for few rows their checks take ten times as long as the trees.
    """
    inputs = np.ascontiguousarray(X, dtype=np.float32)
    total = sum(tree.tree_.predict(inputs) for tree in forest.estimators_)
    return np.asarray(total / len(forest.estimators_))


def predict_out_of_bag(forest: Any, X: Floats, fitted_rows: NDArray[np.int64]) -> Floats:
    """Return the predictions for training rows by the trees that did not see them.

    A row that every tree saw is predicted by all of them.

    Parameters
    ----------
    forest : forest with ``bootstrap=True``
    X : array of shape (n_rows, n_features)
    fitted_rows : array of shape (n_fitted,)
        The rows of `X` that the forest was fitted to, in their order.
    """
    inputs = np.ascontiguousarray(X, dtype=np.float32)
    total, n_unseen = np.zeros(1), np.zeros((len(X), 1))
    for tree, sampled in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        unseen = np.ones((len(X), 1))
        unseen[fitted_rows[sampled]] = 0.0
        total = total + unseen * tree.tree_.predict(inputs)
        n_unseen += unseen
    always_seen = n_unseen[:, 0] == 0
    if always_seen.any():
        total[always_seen], n_unseen[always_seen] = predict_forest(forest, X[always_seen]), 1.0
    return np.asarray(total / n_unseen)
