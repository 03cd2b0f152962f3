"""Weights of the base learners in their pooled prediction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imboost.labels import OUTLIER, Labels

Floats = NDArray[np.float64]

N_ITERATIONS = 50  # the weights hardly change after that


def pool_weights(predictions: Floats, labels: Labels, prior: Floats) -> Floats:
    """Return the weights of a linear opinion pool, fitted to out-of-fold predictions.

    The weights are the maximum a posteriori mixture weights under a Dirichlet prior, found by
    expectation maximisation.

    Parameters
    ----------
    predictions : array of shape (n_labelled, n_learners)
        Out-of-fold probabilities of being an outlier.
    labels : array of shape (n_labelled,)
    prior : array of shape (n_learners,)
        Pseudo-counts of the Dirichlet prior, in labelled rows.

    Examples
    --------
    >>> out_of_fold = np.array([[0.9, 0.4], [0.1, 0.6], [0.2, 0.5]])
    >>> pool_weights(out_of_fold, np.array([1, 0, 0]), np.array([1.0, 1.0])).round(1).tolist()
    [0.7, 0.3]
    """
    likelihood = np.where(labels[:, None] == OUTLIER, predictions, 1 - predictions)
    weights = prior / prior.sum()
    for _ in range(N_ITERATIONS):
        responsibility = weights * likelihood
        responsibility /= responsibility.sum(axis=1, keepdims=True)
        counts = responsibility.sum(axis=0) + prior
        weights = counts / counts.sum()
    return np.asarray(weights)
