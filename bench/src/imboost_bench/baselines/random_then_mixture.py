"""RD-MM, the paper's schedule: random rows in the first round, then rows on a boundary."""

from __future__ import annotations

import numpy as np

from imboost.arrays import Floats, Indices
from imboost.labels import Labels
from imboost.query import MixtureBoundary, QueryStrategy, RandomRows


class RandomThenMixture:
    """Select random rows in the first round and by `MixtureBoundary` in all others.

    Keeps state: whether the first round is over.

    References
    ----------
    "Memorize Early, Then Query: Inlier-Memorization-Guided Active Outlier Detection": this
    schedule reaches a mean AUC of 0.840.

    Examples
    --------
    >>> scores, rows, rng = np.arange(9.0), np.arange(9), np.random.default_rng(0)
    >>> schedule = RandomThenMixture()
    >>> len(schedule.select(scores, rows, 2, rng))
    2
    """

    def __init__(self) -> None:
        self._current: QueryStrategy = RandomRows()

    def select(
        self, scores: Floats, candidates: Indices, n: int, rng: np.random.Generator
    ) -> Indices:
        """Return the rows that the strategy of the present round selects."""
        return self._current.select(scores, candidates, n, rng)

    def update(self, round_labels: Labels, all_labels: Labels) -> None:
        """End the round."""
        self._current = MixtureBoundary()
