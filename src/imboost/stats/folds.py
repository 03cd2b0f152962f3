"""Cross-validation folds by a hash of each row's values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imboost.state import Stateful

Floats = NDArray[np.float64]

ROUNDING_BITS = np.uint64(20)
"""Lowest bits of a float64 that the hash ignores: they may differ by rounding."""

HALF_WORD = np.uint64(32)
"""The upper half of a sum of products depends on every bit of every factor."""


class RowFolds(Stateful):
    """Assign rows to folds by a hash of their values: equal rows share a fold.

    A model of one fold is then never fitted on a row equal to one it predicts, and a row gets
    the same fold in training and later.

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
        hashes = ((bits >> ROUNDING_BITS) * self._keys).sum(axis=1, dtype=np.uint64)
        folds = (hashes >> HALF_WORD) * np.uint64(self.n_folds) >> HALF_WORD
        return np.asarray(folds, dtype=np.int64)
