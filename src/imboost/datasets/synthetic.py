"""Small synthetic data sets for tests and examples."""

from __future__ import annotations

import numpy as np

from imboost.datasets.dataset import Dataset
from imboost.labels import OUTLIER


def planted_outliers(
    n_rows: int = 600, n_features: int = 5, contamination: float = 0.05, *, seed: int = 0
) -> Dataset:
    """Generate inliers near a two-dimensional manifold, and outliers uniform in its range.

    No value of an outlier is unusual by itself; a detector must learn how columns depend on
    each other.

    >>> planted_outliers(100, 4).n_outliers
    5
    """
    rng = np.random.default_rng(seed)
    n_outliers = max(1, round(n_rows * contamination))
    code = rng.uniform(-1, 1, (n_rows, 2))
    directions = rng.normal(size=(2, n_features))
    sheet = np.tanh(code @ directions) + 0.05 * rng.normal(size=(n_rows, n_features))
    y = np.zeros(n_rows, dtype=np.int8)
    outliers = rng.choice(n_rows, n_outliers, replace=False)
    y[outliers] = OUTLIER
    low, high = sheet.min(axis=0), sheet.max(axis=0)
    sheet[outliers] = rng.uniform(low, high, (n_outliers, n_features))
    return Dataset("planted", "planted", sheet, y)
