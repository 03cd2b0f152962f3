"""SPREAD: likely outliers first, then rows in doubt, and always rows far from all answers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from imboost.data.scaling import StandardScaling, UnitScaling
from imboost.labels import INLIER, OUTLIER, Labels
from imboost.query.decision_boundary import nearest_to
from imboost.query.highest_scores import HighestScores
from imboost.query.strategy import Indices, Scores
from imboost.validation import check_number


@dataclass
class Spread:
    """Choose some rows by their scores and spread the others over the table.

    Until answers of both kinds are known, the rows chosen by score are those with the highest
    ones; later they are those in doubt, nearest to the middle of the scores' range. The other
    rows are drawn one after the other, each with a probability in proportion to its distance
    from the nearest row that was answered or chosen before it.

    Keeps state: the table, and which kinds of answers there were.

    Parameters
    ----------
    top_share : float
        Share of a round's rows taken from the highest scores while one kind is unknown.
    doubt_share : float
        Share of a round's rows in doubt, later.
    max_pool : int
        The spread rows are drawn from so many candidates at most, themselves drawn at random.

    References
    ----------
    Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007;
    its draw of first centres, with distances in place of their squares.

    Examples
    --------
    >>> strategy = Spread(top_share=0.5)
    >>> strategy.look_at(np.array([[0.0], [0.1], [0.2], [9.0]]))
    >>> scores, rows = np.array([0.9, 0.2, 0.1, 0.3]), np.arange(4)
    >>> strategy.select(scores, rows, 2, np.random.default_rng(0)).tolist()
    [0, 3]
    """

    top_share: float = 1 / 3
    doubt_share: float = 2 / 3
    max_pool: int = 10_000
    _table: NDArray[np.float64] | None = field(init=False, default=None, repr=False)
    _kinds: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        """Check the settings."""
        check_number("top_share", self.top_share, minimum=0.0, maximum=1.0)
        check_number("doubt_share", self.doubt_share, minimum=0.0, maximum=1.0)
        check_number("max_pool", self.max_pool, minimum=1, whole=True)

    def look_at(self, table: NDArray[np.float64]) -> None:
        """Remember where the rows lie, every column in its standard deviations."""
        table = UnitScaling.fit(table).apply(table)
        self._table = StandardScaling.fit(table).apply(table)

    def observe(self, labels: Labels) -> None:
        """Remember which kinds of answers a round brought."""
        self._kinds |= set(np.unique(labels).tolist())

    def select(
        self, scores: Scores, candidates: Indices, n: int, rng: np.random.Generator
    ) -> Indices:
        """Return `n` candidates: first those chosen by score, then those spread out."""
        n = min(n, len(candidates))
        if {INLIER, OUTLIER} <= self._kinds:
            middle = scores.min() / 2 + scores.max() / 2
            scored = nearest_to(middle, scores, candidates, round(n * self.doubt_share))
        else:
            n_top = round(n * self.top_share)
            scored = HighestScores().select(scores, candidates, n_top, rng)
        left = np.setdiff1d(candidates, scored)
        answered = np.setdiff1d(np.arange(len(scores)), left)
        return np.concatenate([scored, self._spread(left, answered, n - len(scored), rng)])

    def _spread(
        self, candidates: Indices, taken: Indices, n: int, rng: np.random.Generator
    ) -> Indices:
        """Draw `n` candidates, the likelier the farther from all rows taken by then."""
        if self._table is None or n == 0:  # nothing is known of where rows lie, or wanted
            return rng.choice(candidates, n, replace=False)
        size = max(n, min(self.max_pool, len(candidates)))
        pool = np.sort(rng.choice(candidates, size, replace=False))
        places = self._table[pool]
        gaps = _gaps(places, self._table[taken])
        free = np.ones(size, dtype=bool)
        chosen = []
        for _ in range(n):
            weights = np.where(free, gaps, 0.0)
            if weights.sum() == 0:  # all that are left lie on rows taken
                weights = free.astype(np.float64)
            row = int(rng.choice(size, p=weights / weights.sum()))
            chosen.append(pool[row])
            free[row] = False
            gaps = np.minimum(gaps, np.linalg.norm(places - places[row], axis=1))
        return np.array(chosen, dtype=np.int64)


def _gaps(places: NDArray[np.float64], taken: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of every place to the nearest one taken."""
    if len(taken) == 0:
        return np.ones(len(places))
    distances, _ = NearestNeighbors(n_neighbors=1).fit(taken).kneighbors(places)
    return np.asarray(distances[:, 0])
