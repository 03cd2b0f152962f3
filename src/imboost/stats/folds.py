"""Rows parted by their own values, so that each can be judged by what learned from others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LAST_BITS = np.uint64(20)
"""Bits of a number that may be those of rounding, and are not looked at."""

BEST_BITS = np.uint64(32)
"""Of a sum of products the upper half depends on all bits of all numbers."""


class RowFolds:
    """Parts rows by a hash of their values: equal rows are always in the same fold.

    What judges a row has then not learned from it, nor from an equal one, and a row is judged
    alike in training and later.

    Parameters
    ----------
    n_columns, n_folds : int
    seed : int
    """

    def __init__(self, n_columns: int, n_folds: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._keys = rng.integers(2**63, size=n_columns, dtype=np.uint64) * 2 + 1
        self.n_folds = n_folds

    def __call__(self, table: Floats) -> NDArray[np.int64]:
        """Return the fold of every row."""
        bits = np.ascontiguousarray(table + 0.0).view(np.uint64)  # no negative zero
        mixed = ((bits >> LAST_BITS) * self._keys).sum(axis=1, dtype=np.uint64)
        place = (mixed >> BEST_BITS) * np.uint64(self.n_folds) >> BEST_BITS
        return np.asarray(place, dtype=np.int64)
