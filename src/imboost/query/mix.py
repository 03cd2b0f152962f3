"""MIX: top scores, uncertain rows and random rows, a third each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imboost.query.decision_boundary import nearest_to
from imboost.query.highest_scores import HighestScores
from imboost.query.random_rows import RandomRows
from imboost.query.strategy import Indices, Scores


@dataclass(frozen=True)
class Mix:
    """Choose a third by the highest scores, a third by doubt and a third at random.

    In doubt are the rows whose scores are nearest to the middle of the scores' range. Where a
    classifier is sure of some rows of either kind, that is a probability of one half. What is
    left over when `n` is divided by three goes to the random rows. Keeps no state.

    >>> rng = np.random.default_rng(0)
    >>> Mix().select(np.linspace(0, 1, 11), np.arange(11), 6, rng)[:4].tolist()
    [10, 9, 5, 4]
    """

    def select(
        self, scores: Scores, candidates: Indices, n: int, rng: np.random.Generator
    ) -> Indices:
        """Return `n` candidates: highest first, then the doubtful, then random ones."""
        third = min(n, len(candidates)) // 3
        middle = scores.min() / 2 + scores.max() / 2
        highest = HighestScores().select(scores, candidates, third, rng)
        left = np.setdiff1d(candidates, highest)
        doubtful = nearest_to(middle, scores, left, third)
        left = np.setdiff1d(left, doubtful)
        anyone = RandomRows().select(scores, left, n - 2 * third, rng)
        return np.concatenate([highest, doubtful, anyone])
