"""The demo data set: handwritten digits in which one digit is rare and counts as an outlier."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from imboost.datasets.dataset import Dataset

OUTLIER_DIGIT = 4
IMAGE_SHAPE = (8, 8)


def load_demo(seed: int = 0) -> Dataset:
    """Return scikit-learn's digits with few fours, the outliers: 1,696 rows of 64 pixels.

    No pixel of a four is unusual by itself, so that a detector needs labels to find fours.

    `seed` decides which fours are kept and the order of the rows.

    >>> load_demo().n_outliers
    80
    """
    digits = load_digits()
    rng = np.random.default_rng(seed)
    is_outlier = digits.target == OUTLIER_DIGIT
    inliers = np.flatnonzero(~is_outlier)
    n_outliers = int(0.05 * len(inliers))
    outliers = rng.choice(np.flatnonzero(is_outlier), n_outliers, replace=False)
    rows = rng.permutation(np.concatenate([inliers, outliers]))
    return Dataset("digits", "digits", digits.data[rows], is_outlier[rows].astype(np.int8))
