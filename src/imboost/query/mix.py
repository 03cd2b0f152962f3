"""MIX: highest scores, uncertain rows and random rows, a third each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imboost.arrays import Indices
from imboost.query.decision_boundary import nearest_to
from imboost.query.highest_scores import HighestScores
from imboost.query.random_rows import RandomRows
from imboost.query.strategy import Rng, Scores


@dataclass(frozen=True)
class Mix:
    """Select a third by the highest scores, a third by uncertainty and a third at random.

    A row is uncertain if its score is near the middle of the range of scores; for a classifier
    that is certain about some rows of each class, that is a probability of one half.
    The remainder of `n` divided by three is drawn at random. No state.

    >>> rng = np.random.default_rng(0)
    >>> Mix().select(np.linspace(0, 1, 11), np.arange(11), 6, rng)[:4].tolist()
    [10, 9, 5, 4]
    """

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return `n` candidates: highest scores, then uncertain, then random rows."""
        third = min(n, len(candidates)) // 3
        middle = scores.min() / 2 + scores.max() / 2
        highest = HighestScores().select(scores, candidates, third, rng)
        others = np.setdiff1d(candidates, highest)
        uncertain = nearest_to(middle, scores, others, third)
        others = np.setdiff1d(others, uncertain)
        drawn = RandomRows().select(scores, others, n - 2 * third, rng)
        return np.concatenate([highest, uncertain, drawn])
