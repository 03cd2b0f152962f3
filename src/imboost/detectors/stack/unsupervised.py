"""How soon rows are isolated, and how far others are from them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest

from imboost.detectors.shallow.base import Floats
from imboost.detectors.stack.neighbors import NeighbourDistances
from imboost.state import Stateful

N_COMPANY = 20
"""Nearest rows that a row's loneliness is measured among."""

SMALL = 1e-6
"""Added to distances that may be 0, in columns from 0 to 1."""


class Surroundings(Stateful):
    """Two looks at rows without labels: how soon they are isolated, and how far others are.

    Parameters
    ----------
    table : array of shape (n_rows, n_features)
        The training rows.
    n_trees : int
        Trees of the isolation forest.
    n_neighbors : int
        The most neighbours that are wanted.
    max_reference_rows : int
        Neighbours are looked for among so many rows at most, drawn at random.
    seed : int
        Of all randomness.
    """

    def __init__(
        self, table: Floats, n_trees: int, n_neighbors: int, max_reference_rows: int, seed: int
    ) -> None:
        self._forest = IsolationForest(n_estimators=n_trees, random_state=seed).fit(table)
        rng = np.random.default_rng(seed)
        self._reference = sample_rows(table, max_reference_rows, rng)
        self.distances = NeighbourDistances(self._reference, n_neighbors)

    def isolation(self, table: Floats) -> NDArray[np.float64]:
        """Return the isolation-forest score of every row, higher for outliers."""
        return np.asarray(-self._forest.score_samples(table))

    def neighbours(
        self, table: Floats, numbers: Sequence[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean distances to so many nearest rows, and how lonely a row is among them.

        The second is the mean distance to the nearest few rows over the same mean of these
        rows themselves: above 1 where they lie closer to each other than to the row.
        """
        means, loneliness = [], []
        for distances, nearest in self.distances.chunks(table):
            means.append(np.column_stack([distances[:, :n].mean(axis=1) for n in numbers]))
            own = distances[:, :N_COMPANY].mean(axis=1)
            theirs = self._company[nearest[:, :N_COMPANY]].mean(axis=1)
            loneliness.append((own + SMALL) / (theirs + SMALL))
        return np.concatenate(means), np.concatenate(loneliness)

    @cached_property
    def _company(self) -> NDArray[np.float64]:
        """Mean distance of every reference row to the rows nearest to it."""
        distances = NeighbourDistances(self._reference, N_COMPANY)(self._reference)
        return np.asarray(distances.mean(axis=1))


def sample_rows(table: Floats, n_rows: int, rng: np.random.Generator) -> Floats:
    """Return at most `n_rows` rows of a table, drawn at random, in their order."""
    n_drawn = min(len(table), n_rows)
    return table[np.sort(rng.choice(len(table), n_drawn, replace=False))]
