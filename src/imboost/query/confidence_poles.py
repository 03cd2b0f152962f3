"""CP: the rows with the smallest and the largest scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imboost.query.strategy import Indices, Scores


@dataclass(frozen=True)
class ConfidencePoles:
    """Choose half of the rows from the lowest scores and half from the highest.

    Of an odd number the highest get one more. Keeps no state.

    >>> rng = np.random.default_rng(0)
    >>> ConfidencePoles().select(np.arange(10.0), np.arange(10), 4, rng).tolist()
    [0, 1, 9, 8]
    """

    def select(
        self, scores: Scores, candidates: Indices, n: int, rng: np.random.Generator
    ) -> Indices:
        """Return the `n` candidates at both ends of the scores."""
        n = min(n, len(candidates))
        ranked = candidates[np.argsort(scores[candidates], kind="stable")]
        n_low = n // 2
        highest = ranked[::-1][: n - n_low]
        return np.concatenate([ranked[:n_low], highest])
