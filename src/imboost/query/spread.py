"""SPREAD: a weighted k-means++ draw of rows, far from rows that were queried before."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.neighbors import NearestNeighbors

from imboost.arrays import Floats, Indices
from imboost.labels import INLIER, OUTLIER, Labels
from imboost.query.protocols import Scores
from imboost.stats.scaling import MinMaxScaling, StandardScaling
from imboost.validation import check_number

MAX_HALVINGS = 100.0  # higher powers of scores would underflow
MIN_WEIGHT = 1e-6  # every candidate can be drawn, whatever its score
MAX_PASSES = 20  # iterations of the search for inclusion probabilities; a few are enough


@dataclass
class Spread:
    """Draw rows one after the other, with probability proportional to weight times distance.

    The distance is that to the nearest row that was answered or drawn before. The weight depends
    on the answers so far, where s is the score scaled to [0, 1], in the first two cases among the
    candidates and in the third among all rows:

    - no answers, or outliers only: ``exploration + (1 - exploration) * s / mean(s)``;
    - inliers only: the same with ``exploration * 0.5**k`` and ``s**(1 + k)``, where k is the
      number of inliers over `patience`: the highest scores count more and more;
    - both classes: ``(1 - |2 s - 1|)**uncertainty_power``, largest in the middle of the range of
      all scores.

    Keeps state: the embedding of the rows and the classes of the answers.

    References
    ----------
    Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007: its draw
    of initial centres, with weighted rows and plain instead of squared distances.

    Examples
    --------
    >>> strategy = Spread()
    >>> strategy.set_embedding(np.array([[0.0], [0.1], [0.2], [9.0]]))
    >>> scores, unanswered = np.array([0.0, 0.2, 0.2, 0.3]), np.arange(1, 4)
    >>> strategy.select(scores, unanswered, 1, np.random.default_rng(0)).tolist()
    [3]
    """

    exploration: float = 0.5  # share of the weight that does not depend on the score
    patience: float = 10.0  # inliers that halve exploration while no outlier is known
    uncertainty_power: float = 2.0
    max_candidates: int = 10_000  # if there are more, a sample is drawn by weight
    _points: Floats | None = field(init=False, default=None, repr=False)
    _classes: set[int] = field(init=False, default_factory=set)
    _n_inliers: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Check the settings."""
        check_number("exploration", self.exploration, minimum=0.0, maximum=1.0)
        check_number("patience", self.patience, above=0.0)
        check_number("uncertainty_power", self.uncertainty_power, minimum=0.0)
        check_number("max_candidates", self.max_candidates, minimum=1, whole=True)

    def set_embedding(self, points: Floats) -> None:
        """Standardise and keep the points between which distances are measured."""
        scaled = MinMaxScaling.fit(points).transform(points)
        self._points = StandardScaling.fit(scaled).transform(scaled)

    def update(self, round_labels: Labels, all_labels: Labels) -> None:
        """Count the answers of each class."""
        self._classes = set(np.unique(all_labels).tolist())
        self._n_inliers = int((all_labels == INLIER).sum())

    def select(
        self, scores: Scores, candidates: Indices, n: int, rng: np.random.Generator
    ) -> Indices:
        """Return `n` candidates in the order in which they were drawn."""
        n = min(n, len(candidates))
        weights = np.maximum(self._weights(scores, candidates), MIN_WEIGHT)
        if self._points is None:  # no distances are known
            return rng.choice(candidates, n, replace=False, p=weights / weights.sum())
        kept, weights = _subsample(weights, max(self.max_candidates, 2 * n), rng)
        points = self._points[candidates[kept]]
        # Rows that are no candidates have an answer or an open question.
        queried = np.setdiff1d(np.arange(len(scores)), candidates, assume_unique=True)
        distances = np.full(len(points), np.inf)
        if len(queried):
            search = NearestNeighbors(n_neighbors=1).fit(self._points[queried])
            distances = search.kneighbors(points)[0][:, 0]
        return candidates[kept[_draw(points, weights, distances, n, rng)]]

    def _weights(self, scores: Scores, candidates: Indices) -> Floats:
        if {INLIER, OUTLIER} <= self._classes:
            position = _min_max(scores)[candidates]
            return np.asarray((1 - np.abs(2 * position - 1)).clip(0, 1) ** self.uncertainty_power)
        # Scaled among the candidates: one extreme score of an answered row would level the others.
        halvings = 0.0 if OUTLIER in self._classes else self._n_inliers / self.patience
        halvings = min(halvings, MAX_HALVINGS)
        exploration = self.exploration * 0.5**halvings
        by_score = _min_max(scores[candidates]) ** (1 + halvings)
        return np.asarray(exploration + (1 - exploration) * by_score / by_score.mean())


def _draw(
    points: Floats, weights: Floats, distances: Floats, n: int, rng: np.random.Generator
) -> list[int]:
    """Draw `n` points, given their distances to the nearest queried row."""
    free = np.ones(len(points), dtype=bool)
    drawn = []
    for _ in range(n):
        largest = distances[free].max()
        measured = 0 < largest < np.inf
        chances = np.where(free, weights * (distances / largest if measured else 1.0), 0.0)
        index = int(rng.choice(len(points), p=chances / chances.sum()))
        drawn.append(index)
        free[index] = False
        distances = np.minimum(distances, np.linalg.norm(points - points[index], axis=1))
    return drawn


def _min_max(scores: Scores) -> Floats:
    """Scale scores to [0, 1]; equal scores become 0.5."""
    low, high = scores.min(), scores.max()
    if low == high:
        return np.full(len(scores), 0.5)
    # Halved before subtracting: the range itself may overflow.
    return np.asarray((scores / 2 - low / 2) / (high / 2 - low / 2))


def _subsample(weights: Floats, size: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
    """Keep `size` rows, each with a probability in proportion to its weight.

    Returns the rows and their weights over the probability of being kept, so that the expected
    weights stay the same.
    """
    if len(weights) <= size:
        return np.arange(len(weights)), weights
    probability = np.minimum(1.0, weights * size / weights.sum())
    for _ in range(MAX_PASSES):  # rows that are certain to be kept leave room for others
        certain = probability == 1
        room = size - certain.sum()
        proportional = np.minimum(1.0, weights * room / weights[~certain].sum())
        probability = np.where(certain, 1.0, proportional)
    # Systematic sampling: a row is kept where the cumulated probabilities pass an integer.
    ends = np.concatenate([[0.0], np.cumsum(probability)]) + rng.random()
    kept = np.flatnonzero(np.diff(np.floor(ends)))
    return kept, weights[kept] / probability[kept]
