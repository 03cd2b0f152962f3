"""Exact distances to the nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.neighbors import NearestNeighbors

from imboost.arrays import Floats, Indices

MAX_CHUNK_VALUES = 20_000_000  # numbers in the largest array of a chunk: 160 MB
SAME_ROW = 1e-6  # smaller distances between scaled rows are rounding errors
MAX_TREE_COLUMNS = 5  # up to this many columns a search tree is quicker than brute force


@dataclass(frozen=True, eq=False)
class NeighborDistances:
    """Distances of rows to their nearest neighbours among reference rows.

    One copy of a row among the reference rows does not count, so that a training row is not its
    own neighbour.

    Parameters
    ----------
    reference : array of shape (n_reference, n_features)
    n_neighbors : int
        Fewer are found where there are fewer reference rows.
    """

    reference: Floats
    n_neighbors: int

    def __call__(self, X: Floats) -> Floats:
        """Return the distances, nearest first, of shape (n_rows, n_neighbors)."""
        algorithm = "auto" if self.reference.shape[1] <= MAX_TREE_COLUMNS else "brute"
        search = NearestNeighbors(algorithm=algorithm).fit(self.reference)
        n_found = min(self.n_neighbors + 1, len(self.reference))
        n_chunk = max(1, MAX_CHUNK_VALUES // (n_found * X.shape[1]))
        chunks = (X[start : start + n_chunk] for start in range(0, len(X), n_chunk))
        return np.concatenate(
            [
                self._measure(rows, search.kneighbors(rows, n_found, return_distance=False))
                for rows in chunks
            ]
        )

    def _measure(self, rows: Floats, found: Indices) -> Floats:
        """Compute the distances again, leaving out one copy of each row.

        The last digits of the distances that the search returns depend on the number of rows in
        a call.
        """
        offsets = self.reference[found]  # (rows, found, features)
        offsets -= rows[:, None, :]
        distances = np.sqrt(np.einsum("ijk,ijk->ij", offsets, offsets)).astype(np.float32)
        distances.sort(axis=1)
        n_copies = (distances[:, :1] <= SAME_ROW).astype(np.int64)
        n_wanted = min(self.n_neighbors, max(len(self.reference) - 1, 1))
        wanted = np.minimum(n_copies + np.arange(n_wanted), found.shape[1] - 1)
        return np.take_along_axis(distances, wanted, axis=1).astype(np.float64)
