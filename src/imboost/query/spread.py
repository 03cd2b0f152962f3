"""SPREAD: rows worth an answer, drawn far from all that were answered or chosen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from imboost.labels import INLIER, OUTLIER, Labels
from imboost.query.strategy import Indices, Scores
from imboost.stats.scaling import MinMaxScaling, StandardScaling
from imboost.validation import check_number

LEAST_WORTH = 1e-6
"""No row is out of the question."""

PASSES = 20
"""Of the search for the chances with which rows are kept; a few are enough."""


@dataclass
class Spread:
    """Draw rows one after the other, those in doubt and far from the answered ones rather.

    The probability of a row is its worth times a power of its distance from the nearest row
    that was answered or chosen before it. Until answers of both kinds are known, a row is worth
    the more the higher its score, but none is without worth, since the score may mislead; where
    inliers alone are found, outliers are rare, and the highest scores count more and more. Later
    a row is worth the more the nearer its score is to the middle of their range.

    Keeps state: the table, and which kinds of answers there were.

    Parameters
    ----------
    blind_share : float
        Until both kinds of answers are known: the part of the worth, on average, that rows have
        whatever their score.
    patience : float
        As long as no outlier is known: after so many inliers the blind part is halved, and the
        score counts by one power more.
    doubt_power : float
        How sharply worth falls with the distance of a score from the middle, once both kinds
        of answers are known.
    distance_power : float
        How much more a row far from all others counts than a near one.
    max_pool : int
        Of a large table so many rows are kept to draw from, chosen by their worth.

    References
    ----------
    Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007; its
    draw of first centres, with rows weighted by their worth, and by default without the square.

    Examples
    --------
    >>> strategy = Spread()
    >>> strategy.set_embedding(np.array([[0.0], [0.1], [0.2], [9.0]]))
    >>> scores, unanswered = np.array([0.0, 0.2, 0.2, 0.3]), np.arange(1, 4)
    >>> strategy.select(scores, unanswered, 1, np.random.default_rng(0)).tolist()
    [3]
    """

    blind_share: float = 0.5
    patience: float = 10.0
    doubt_power: float = 2.0
    distance_power: float = 1.0
    max_pool: int = 10_000
    _table: NDArray[np.float64] | None = field(init=False, default=None, repr=False)
    _kinds: set[int] = field(init=False, default_factory=set)
    _n_inliers: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Check the settings."""
        check_number("blind_share", self.blind_share, minimum=0.0, maximum=1.0)
        check_number("patience", self.patience, above=0.0)
        check_number("doubt_power", self.doubt_power, minimum=0.0)
        check_number("distance_power", self.distance_power, minimum=0.0)
        check_number("max_pool", self.max_pool, minimum=1, whole=True)

    def set_embedding(self, points: NDArray[np.float64]) -> None:
        """Remember where the rows lie, every column in its standard deviations."""
        table = MinMaxScaling.fit(points).transform(points)
        self._table = StandardScaling.fit(table).transform(table)

    def update(self, round_labels: Labels, all_labels: Labels) -> None:
        """Remember which kinds of answers are known."""
        self._kinds = set(np.unique(all_labels).tolist())
        self._n_inliers = int((all_labels == INLIER).sum())

    def select(
        self, scores: Scores, candidates: Indices, n: int, rng: np.random.Generator
    ) -> Indices:
        """Return `n` candidates in the order in which they were drawn."""
        n = min(n, len(candidates))
        worth = np.maximum(self._worth(scores, candidates), LEAST_WORTH)
        if self._table is None:  # nothing is known of where rows lie
            return rng.choice(candidates, n, replace=False, p=worth / worth.sum())
        kept, worth = _thin(worth, max(self.max_pool, 2 * n), rng)
        answered = np.setdiff1d(np.arange(len(scores)), candidates)
        places = self._table[candidates[kept]]
        drawn = self._draw(places, worth, _gaps(places, self._table[answered]), n, rng)
        return candidates[kept[drawn]]

    def _worth(self, scores: Scores, candidates: Indices) -> NDArray[np.float64]:
        """Return what an answer about each candidate is worth by its score alone."""
        if {INLIER, OUTLIER} <= self._kinds:
            place = _places_in_range(scores)[candidates]
            return np.asarray((1 - np.abs(2 * place - 1)).clip(0, 1) ** self.doubt_power)
        # Among candidates alone: a row above all others that was answered says nothing of them.
        turns = 0.0 if OUTLIER in self._kinds else self._n_inliers / self.patience
        blind = self.blind_share * 0.5**turns
        by_score = _places_in_range(scores[candidates]) ** (1 + turns)
        return np.asarray(blind + (1 - blind) * by_score / by_score.mean())

    def _draw(
        self,
        places: NDArray[np.float64],
        worth: NDArray[np.float64],
        gaps: NDArray[np.float64],
        n: int,
        rng: np.random.Generator,
    ) -> list[int]:
        """Draw `n` places, given their distances from all rows taken, and take them too."""
        free = np.ones(len(places), dtype=bool)
        drawn = []
        for _ in range(n):
            widest = gaps[free].max()
            measured = 0 < widest < np.inf
            distance = (gaps / widest) ** self.distance_power if measured else 1.0
            weights = np.where(free, worth * distance, 0.0)
            row = int(rng.choice(len(places), p=weights / weights.sum()))
            drawn.append(row)
            free[row] = False
            gaps = np.minimum(gaps, np.linalg.norm(places - places[row], axis=1))
        return drawn


def _places_in_range(scores: Scores) -> NDArray[np.float64]:
    """Return where scores lie from the lowest, 0, to the highest, 1; in the middle if alike."""
    low, high = scores.min(), scores.max()
    if low == high:
        return np.full(len(scores), 0.5)
    # Halved before subtracting: the range itself may overflow.
    return np.asarray((scores / 2 - low / 2) / (high / 2 - low / 2))


def _thin(
    worth: NDArray[np.float64], size: int, rng: np.random.Generator
) -> tuple[Indices, NDArray[np.float64]]:
    """Keep `size` rows of many, each with a chance in proportion to its worth.

    Returns the rows kept and what they are worth now: the more a row was likely to be left
    out, the more it counts.
    """
    if len(worth) <= size:
        return np.arange(len(worth)), worth
    chance = np.minimum(1.0, worth * size / worth.sum())
    for _ in range(PASSES):  # rows that are sure to be kept leave room for others
        sure = chance == 1
        room = size - sure.sum()
        chance = np.where(sure, 1.0, np.minimum(1.0, worth * room / worth[~sure].sum()))
    # Systematic sampling: the chances end to end, and kept whoever lies over a whole number.
    ends = np.concatenate([[0.0], np.cumsum(chance)]) + rng.random()
    kept = np.flatnonzero(np.diff(np.floor(ends)))
    return kept, worth[kept] / chance[kept]


def _gaps(places: NDArray[np.float64], taken: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of every place to the nearest one taken; infinite if none was."""
    if len(taken) == 0:
        return np.full(len(places), np.inf)
    distances, _ = NearestNeighbors(n_neighbors=1).fit(taken).kneighbors(places)
    return np.asarray(distances[:, 0])
