"""HC: rows with the highest scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imboost.arrays import Indices
from imboost.query.strategy import Rng, Scores


@dataclass(frozen=True)
class HighestScores:
    """Select the rows with the highest scores. No state.

    >>> rng = np.random.default_rng(0)
    >>> HighestScores().select(np.arange(10.0), np.arange(8), 3, rng).tolist()
    [7, 6, 5]
    """

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates with the highest scores, highest first."""
        return candidates[np.argsort(-scores[candidates], kind="stable")[:n]]
