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


def predict_out_of_bag(
    forest: Any,
    X: Floats,
    training_index: NDArray[np.int64],
    fitted_rows: NDArray[np.int64],
) -> Floats:
    """Return the mean prediction of the trees that were not fitted to each row.

    A row that every tree saw is predicted by all of them.

    Parameters
    ----------
    forest : forest with ``bootstrap=True``
    X : array of shape (n_rows, n_features)
    training_index : array of shape (n_rows,)
        Which training row each row is; negative for a new row, which no tree saw.
    fitted_rows : array of shape (n_fitted,)
        The training rows that the forest was fitted to, in their order.
    """
    inputs = np.ascontiguousarray(X, dtype=np.float32)
    total, n_unseen = np.zeros(1), np.zeros((len(X), 1))
    n_training = 1 + max(int(fitted_rows.max()), int(training_index.max(initial=-1)))
    for tree, sampled in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        seen = np.zeros(n_training, dtype=bool)
        seen[fitted_rows[sampled]] = True
        unseen = ~(seen[training_index] & (training_index >= 0))[:, None]
        total = total + unseen * tree.tree_.predict(inputs)
        n_unseen += unseen
    always_seen = n_unseen[:, 0] == 0
    if always_seen.any():
        total[always_seen], n_unseen[always_seen] = predict_forest(forest, X[always_seen]), 1.0
    return np.asarray(total / n_unseen)
