"""The embedded demo set: handwritten digits, with a few of a kind that does not belong."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from imboost.datasets.dataset import Dataset

STRAY_DIGIT = 4
STRAY_SHARE = 0.05
IMAGE_SHAPE = (8, 8)


def load_demo(seed: int = 0) -> Dataset:
    """Return scikit-learn's digits, the fours being rare strays: 1,696 rows, 64 pixels each.

    A four is an ordinary handwritten digit, so that no column looks odd by itself; what
    makes it an outlier is that someone says so, which is the situation IMBoost is made for.

    Parameters
    ----------
    seed : int
        Chooses which fours stay and the order of the rows.

    Examples
    --------
    >>> load_demo().n_outliers
    80
    """
    digits = load_digits()
    rng = np.random.default_rng(seed)
    is_stray = digits.target == STRAY_DIGIT
    ordinary = np.flatnonzero(~is_stray)
    n_strays = int(STRAY_SHARE * len(ordinary))
    strays = rng.choice(np.flatnonzero(is_stray), n_strays, replace=False)
    rows = rng.permutation(np.concatenate([ordinary, strays]))
    return Dataset("digits", "digits", digits.data[rows], is_stray[rows].astype(np.int8))
