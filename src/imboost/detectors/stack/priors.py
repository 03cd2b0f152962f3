"""Prior weights of unsupervised scores and base learners, by the dimensionality of a table.

The numbers were chosen on 21 tables and eight sets of image embeddings of ADBench, on other
seeds than those reported in docs/results.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mode

from imboost.tables.layout import Kind, Layout

MIN_DIMENSIONALITY = 1e-3  # of a constant table, so that all prior weights are positive
CELLS_WEIGHT = 40.0  # of the cell model; chosen on the building tables of `imboost-bench cells`
CELLS_LEARNER_WEIGHT = 4.0  # pseudo-counts, chosen there as well
HALF_WEIGHT_LABELS = 100  # labelled rows with which the network's weight is halved; 100 to 400
# gave the same accuracy on 21 tables with other seeds than those reported
HALF_WEIGHT_DIMENSIONS = 100  # effective dimensionality with a weight of 0.5


def dimensionality_weight(X: NDArray[Any], layout: Layout) -> float:
    """Return the effective dimensionality of a table, scaled to a weight from 0 to 1.

    The effective dimensionality is the mean number of cells in a row that differ from the most
    frequent value of their column: a sparse table of a thousand columns may have only a few.
    """
    columns = [
        X[:, feature.columns].argmax(axis=1)
        if feature.kind == Kind.CATEGORICAL
        else X[:, feature.start]
        for feature in layout.features
        if feature.kind in (Kind.NUMERIC, Kind.CATEGORICAL)
    ]
    most_frequent = mode(np.column_stack(columns), axis=0).count / len(X)
    dimensionality = max(float(np.sum(1 - most_frequent)), MIN_DIMENSIONALITY)
    return dimensionality / (dimensionality + HALF_WEIGHT_DIMENSIONS)


def score_weights(high: float) -> dict[str, float]:
    """Return the prior weights of the unsupervised scores, given the dimensionality weight.

    The PCA error is informative in high dimensions and hardly in low ones. Distances concentrate
    in high dimensions, and few splits isolate a row there. Distances between one-hot encoded
    categories are not informative either: in tables with categories and few columns, the
    conditional model of the cells has the largest weight.
    """
    return {
        "isolation_forest": 1 - high**2,
        "knn": 3.0,
        "pca": 8 * high**2,
        "cells": CELLS_WEIGHT * (1 - high**2),
    }


def learner_weights(high: float, *, has_cells: bool = False) -> dict[str, float]:
    """Return the pseudo-counts of the base learners, given the dimensionality weight.

    Forests and linear models need many labels in high dimensions. The unsupervised scores, and
    the Gaussian process, which equals them far from labelled rows, have the largest weights there.
    With a cell model, the unsupervised scores rank most wrong cells first, so that they keep some
    weight until labels show that the learners are better.
    """
    return {
        "random_forest": 2 - 1.5 * high,
        "extra_trees": 2 - 1.5 * high,
        "linear": 2 - 1.5 * high,
        "gaussian_process": 4 * high,
        "scores": 8 * high**2 + (CELLS_LEARNER_WEIGHT if has_cells else 0.0),
    }


def network_weight(high: float, n_labelled: int) -> float:
    """Return the factor of the in-context network's log-odds, given the dimensionality weight.

    The weight falls with the number of labels, since learners fitted to many labels are more
    accurate, and with the effective dimensionality, since the network was trained on tables of at
    most 24 columns.
    """
    return (1 - high) / (1 + n_labelled / HALF_WEIGHT_LABELS)
