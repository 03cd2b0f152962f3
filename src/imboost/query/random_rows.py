"""RD: random rows."""

from __future__ import annotations

from dataclasses import dataclass

from imboost.arrays import Indices
from imboost.query.strategy import Rng, Scores


@dataclass(frozen=True)
class RandomRows:
    """Select rows uniformly at random. No state.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> len(RandomRows().select(np.zeros(9), np.arange(9), 3, rng))
    3
    """

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return `n` random candidates."""
        return rng.choice(candidates, min(n, len(candidates)), replace=False)
