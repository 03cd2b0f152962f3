"""CP: rows with the lowest and the highest scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imboost.arrays import Indices
from imboost.query.strategy import Rng, Scores


@dataclass(frozen=True)
class ConfidencePoles:
    """Select half of the rows by the lowest scores and half by the highest.

    If the number is odd, one more has a high score. No state.

    >>> rng = np.random.default_rng(0)
    >>> ConfidencePoles().select(np.arange(10.0), np.arange(10), 4, rng).tolist()
    [0, 1, 9, 8]
    """

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates at both ends, lowest first, then highest first."""
        n = min(n, len(candidates))
        ranked = candidates[np.argsort(scores[candidates], kind="stable")]
        n_low = n // 2
        highest = ranked[::-1][: n - n_low]
        return np.concatenate([ranked[:n_low], highest])
