"""CORE-SET: rows that cover the table, by k-center greedy."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from imboost.arrays import Indices
from imboost.query.embedding import distances_to_nearest, queried_rows, standardise
from imboost.query.random_rows import RandomRows
from imboost.query.strategy import Points, Rng, Scores
from imboost.validation import check_number


@dataclass
class CoreSet:
    """Select, one after the other, the row farthest from all rows queried before.

    This is the greedy algorithm for the k-center problem: the largest distance of a row to the
    nearest queried one is at most twice the smallest that is possible. Scores are not used. Ties
    are broken at random, and the first row of all is drawn at random. Without an embedding, all
    are.

    Keeps state: the embedding of the rows.

    Parameters
    ----------
    max_candidates : int
        If there are more candidates than this and than twice the number of rows to select, a
        random sample of them is covered instead.

    References
    ----------
    Sener and Savarese, "Active learning for convolutional neural networks: a core-set approach",
    ICLR 2018.

    Examples
    --------
    >>> strategy = CoreSet()
    >>> strategy.set_embedding(np.array([[0.0], [0.1], [5.0], [9.0]]))
    >>> scores, unanswered = np.zeros(4), np.arange(1, 4)
    >>> strategy.select(scores, unanswered, 2, np.random.default_rng(0)).tolist()
    [3, 2]
    """

    max_candidates: int = 10_000
    _points: Points | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the settings."""
        check_number("max_candidates", self.max_candidates, minimum=1, whole=True)

    def set_embedding(self, points: Points) -> None:
        """Standardise and keep the points between which distances are measured."""
        self._points = standardise(points)

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return `n` candidates in the order in which they were selected."""
        n = min(n, len(candidates))
        if self._points is None:
            return RandomRows().select(scores, candidates, n, rng)
        queried = queried_rows(len(scores), candidates)
        candidates = RandomRows().select(scores, candidates, max(self.max_candidates, 2 * n), rng)
        candidates = np.sort(candidates)
        points = self._points[candidates]
        distances = distances_to_nearest(points, self._points[queried])
        selected: list[int] = []
        for _ in range(n):
            index = int(rng.choice(np.flatnonzero(distances == distances.max())))
            selected.append(index)
            distances = np.minimum(distances, np.linalg.norm(points - points[index], axis=1))
            distances[selected] = -1.0  # below that of any other row
        return candidates[selected]
