"""Distances of rows to the rows nearest to them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from imboost.detectors.shallow.base import Floats
from imboost.state import Stateful

CHUNK_VALUES = 20_000_000
"""Numbers held at a time while distances are computed."""

NO_DISTANCE = 1e-6
"""Rows of scaled tables that are nearer are the same, but for rounding."""

FEW_COLUMNS = 5
"""Up to so many columns a search tree is quicker than comparing all rows."""


class NeighbourDistances(Stateful):
    """Finds the rows of a reference that are nearest to given rows.

    Parameters
    ----------
    reference : array of shape (n_rows, n_features)
        Rows among which neighbours are looked for.
    n_neighbors : int
        How many neighbours; fewer where the reference has no more.
    """

    unsaved_attributes = ("_search",)

    def __init__(self, reference: Floats, n_neighbors: int) -> None:
        self._reference = reference
        self._n_wanted = min(n_neighbors, max(len(reference) - 1, 1))
        self._n_found = min(n_neighbors + 1, len(reference))

    def __call__(self, rows: Floats) -> NDArray[np.float64]:
        """Return the distances to the nearest rows, nearest first: (rows, neighbours)."""
        return np.concatenate([distances for distances, _ in self.chunks(rows)])

    def chunks(self, rows: Floats) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        """Yield distances and places in the reference of the nearest rows, few rows at a time.

        One copy of a row is not counted, so that a training row does not count itself,
        whenever it is scored. The distances are computed anew from the differences: those of
        the search depend, in their last digits, on how rows are batched.
        """
        n_chunk = max(1, CHUNK_VALUES // (self._n_found * rows.shape[1]))
        for start in range(0, len(rows), n_chunk):
            yield self._of_chunk(rows[start : start + n_chunk])

    @cached_property
    def _search(self) -> NearestNeighbors:
        way = "auto" if self._reference.shape[1] <= FEW_COLUMNS else "brute"
        return NearestNeighbors(algorithm=way).fit(self._reference)

    def _of_chunk(self, rows: Floats) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        found = self._search.kneighbors(rows, self._n_found, return_distance=False)
        offsets = self._reference[found] - rows[:, None, :]  # (rows, found, features)
        distances = np.sqrt(np.einsum("ijk,ijk->ij", offsets, offsets)).astype(np.float32)
        order = np.argsort(distances, axis=1, kind="stable")
        closest = np.take_along_axis(distances, order[:, :1], axis=1)
        first = (closest <= NO_DISTANCE).astype(np.int64)
        wanted = np.minimum(first + np.arange(self._n_wanted), self._n_found - 1)
        order = np.take_along_axis(order, wanted, axis=1)
        nearest = np.take_along_axis(distances, order, axis=1).astype(np.float64)
        return nearest, np.take_along_axis(found, order, axis=1)
