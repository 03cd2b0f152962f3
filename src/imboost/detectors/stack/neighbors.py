"""Distances to the nearest neighbours, and a simplified local outlier factor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MAX_CHUNK_VALUES = 20_000_000  # numbers in the largest array of a chunk: 160 MB
SAME_ROW = 1e-6  # smaller distances between scaled rows are rounding errors
MAX_TREE_COLUMNS = 5  # up to this many columns a search tree is quicker than brute force
LOF_NEIGHBORS = 20  # the default of scikit-learn's LocalOutlierFactor


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
        return np.concatenate([distances for distances, _ in self.chunks(X)])

    def chunks(self, X: Floats) -> Iterator[tuple[Floats, Indices]]:
        """Yield distances and reference indices of the neighbours, a few rows at a time."""
        n_found = min(self.n_neighbors + 1, len(self.reference))
        search = _fit_search(self.reference)
        n_chunk = max(1, MAX_CHUNK_VALUES // (n_found * X.shape[1]))
        for start in range(0, len(X), n_chunk):
            rows = X[start : start + n_chunk]
            yield self._measure(rows, search.kneighbors(rows, n_found, return_distance=False))

    def _measure(self, rows: Floats, found: Indices) -> tuple[Floats, Indices]:
        """Compute the distances again, leaving out one copy of each row.

        The last digits of the distances that the search returns depend on the number of rows in
        a call.
        """
        offsets = self.reference[found]  # (rows, found, features)
        offsets -= rows[:, None, :]
        distances = np.sqrt(np.einsum("ijk,ijk->ij", offsets, offsets)).astype(np.float32)
        order = np.argsort(distances, axis=1, kind="stable")
        nearest = np.take_along_axis(distances, order[:, :1], axis=1)
        n_copies = (nearest <= SAME_ROW).astype(np.int64)
        n_wanted = min(self.n_neighbors, max(len(self.reference) - 1, 1))
        wanted = np.minimum(n_copies + np.arange(n_wanted), found.shape[1] - 1)
        order = np.take_along_axis(order, wanted, axis=1)
        kept = np.take_along_axis(distances, order, axis=1).astype(np.float64)
        return kept, np.take_along_axis(found, order, axis=1)


@dataclass(frozen=True, eq=False)
class NeighborScores:
    """The kNN score and the local outlier factor of rows.

    Parameters
    ----------
    distances : NeighborDistances
    n_neighbors : tuple of int
        Values of k. The kNN score is the mean distance to the k nearest neighbours, averaged over
        these values.
    reference_means : array of shape (n_reference,)
        Mean distance of each reference row to its `LOF_NEIGHBORS` nearest neighbours.
    """

    distances: NeighborDistances
    n_neighbors: tuple[int, ...]
    reference_means: Floats

    @classmethod
    def fit(cls, reference: Floats, n_neighbors: tuple[int, ...]) -> NeighborScores:
        """Measure the distances among the reference rows."""
        among = NeighborDistances(reference, LOF_NEIGHBORS)(reference)
        distances = NeighborDistances(reference, max(*n_neighbors, LOF_NEIGHBORS))
        return cls(distances, tuple(n_neighbors), among.mean(axis=1))

    def __call__(self, X: Floats) -> tuple[Floats, Floats]:
        """Return the kNN score and the local outlier factor of every row.

        The factor is the mean distance of a row to its nearest neighbours, divided by the average
        of that mean distance over the neighbours. It is above 1 where the neighbours are closer
        to each other than to the row. Unlike the original factor, it uses plain instead of
        reachability distances.
        """
        knn, lof = [], []
        for distances, nearest in self.distances.chunks(X):
            knn.append(np.mean([distances[:, :k].mean(axis=1) for k in self.n_neighbors], axis=0))
            own = distances[:, :LOF_NEIGHBORS].mean(axis=1)
            theirs = self.reference_means[nearest[:, :LOF_NEIGHBORS]].mean(axis=1)
            lof.append((own + SAME_ROW) / (theirs + SAME_ROW))
        return np.concatenate(knn), np.concatenate(lof)


def sample_rows(n_rows: int, n_sampled: int, seed: int) -> Indices:
    """Return the indices of at most `n_sampled` rows, drawn at random, in their order."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(n_rows, min(n_rows, n_sampled), replace=False))


def _fit_search(reference: Floats) -> NearestNeighbors:
    algorithm = "auto" if reference.shape[1] <= MAX_TREE_COLUMNS else "brute"
    return NearestNeighbors(algorithm=algorithm).fit(reference)
