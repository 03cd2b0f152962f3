"""Prior weights of unsupervised scores and base learners, by the dimensionality of a table.

The numbers were chosen on 21 tables and eight sets of image embeddings of ADBench, on other
seeds than those reported in docs/results.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mode

from imboost.tables.layout import Kind, Layout

Floats = NDArray[np.float64]

HALF_DIMENSION = 100  # effective dimensionality at which a table is half way to "high"


def high_dimensionality(X: Floats, layout: Layout) -> float:
    """Return how high the effective dimensionality of a table is, from 0 to 1.

    The effective dimensionality is the mean number of cells in a row that differ from the most
    frequent value of their column: a sparse table of a thousand columns may have only a few.
    """
    columns = [
        X[:, feature.columns].argmax(axis=1)
        if feature.kind == Kind.CATEGORICAL
        else X[:, feature.start]
        for feature in layout.features
        if feature.kind != Kind.MISSING_INDICATOR
    ]
    most_frequent = mode(np.column_stack(columns), axis=0).count / len(X)
    dimensionality = float(np.sum(1 - most_frequent))
    return dimensionality / (dimensionality + HALF_DIMENSION)


def score_weights(high: float) -> dict[str, float]:
    """Return the prior weights of the unsupervised scores.

    In high dimensions distances concentrate and few splits isolate a row, while the error of a
    PCA tells rows apart; in low dimensions it tells next to nothing. Distances between one-hot
    encoded categories tell little: where a table has categories, the conditional model of its
    cells leads.
    """
    return {
        "isolation_forest": 1 - high**2,
        "knn": 3.0,
        "pca": 8 * high**2,
        "cells": 5 * (1 - high**2),
    }


def learner_weights(high: float) -> dict[str, float]:
    """Return the prior weights of the base learners, in labelled rows they are worth.

    In high dimensions forests and linear models need many labels; the unsupervised scores, and
    the Gaussian process, which equals them far from labelled rows, lead until then.
    """
    return {
        "random_forest": 2 - 1.5 * high,
        "extra_trees": 2 - 1.5 * high,
        "linear": 2 - 1.5 * high,
        "gaussian_process": 4 * high,
        "scores": 8 * high**2,
    }
