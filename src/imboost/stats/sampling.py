"""Random samples of rows."""

from __future__ import annotations

import numpy as np

from imboost.arrays import Indices


def sample_rows(n_rows: int, n_sampled: int, seed: int) -> Indices:
    """Return the indices of at most `n_sampled` rows, drawn at random, in their order.

    >>> sample_rows(3, 5, seed=0).tolist()
    [0, 1, 2]
    """
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(n_rows, min(n_rows, n_sampled), replace=False))
