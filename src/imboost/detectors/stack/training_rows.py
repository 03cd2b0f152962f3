"""Recognise training rows that are scored again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Indices
from imboost.stats.row_products import Singles

NEW = -1  # index of a row that is no training row
GRID = 1e-5  # scaled numbers in the same interval of this width are the same
SHIFTS = (0.0, 0.5)  # of two grids: rounding errors do not part the same numbers in both
CHUNK_ROWS = 16_384  # rows hashed at a time, to bound memory


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Hashes of the training rows, in ascending order, with the index of each row.

    >>> rows = np.array([[0.1, 0.2], [0.3, 0.4]])
    >>> known = TrainingRows.fit(rows)
    >>> known.find(rows[::-1] * (1 + 1e-12) + [[0.0, 0.0], [0.0, 0.1]]).tolist()
    [1, -1]
    """

    hashes: list[NDArray[np.uint64]]  # one array for each of `SHIFTS`
    indices: list[Indices]

    @classmethod
    def fit(cls, X: Singles) -> TrainingRows:
        """Hash the rows of shape (n_rows, n_columns); missing cells, nan, equal each other."""
        hashes, indices = [], []
        for shift in SHIFTS:
            distinct, first = np.unique(_hash_rows(X, shift), return_index=True)
            hashes.append(distinct)
            indices.append(first.astype(np.int64))
        return cls(hashes, indices)

    def find(self, X: Singles) -> Indices:
        """Return the training index of every row, `NEW` where it is no training row."""
        found = np.full(len(X), NEW, dtype=np.int64)
        for shift, hashes, indices in zip(SHIFTS, self.hashes, self.indices, strict=True):
            own = _hash_rows(X, shift)
            at = np.minimum(np.searchsorted(hashes, own), len(hashes) - 1)
            found = np.where((hashes[at] == own) & (found == NEW), indices[at], found)
        return found


def _hash_rows(X: Singles, shift: float) -> NDArray[np.uint64]:
    """Return a hash of every row: a sum of its cells with random weights, modulo 2^64."""
    weights = np.random.default_rng(0).integers(2**63, size=(2, X.shape[1]), dtype=np.uint64)
    hashes = []
    for start in range(0, len(X), CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        missing = np.isnan(X[part])
        positions = np.floor(np.where(missing, 0.0, X[part]) / GRID + shift)
        cells = positions.astype(np.int64).view(np.uint64)
        weighted = np.where(missing, weights[1], cells * (2 * weights[0] + np.uint64(1)))
        hashes.append(weighted.sum(axis=1, dtype=np.uint64))
    return np.concatenate(hashes) if hashes else np.zeros(0, dtype=np.uint64)
