"""DB: rows on the boundary of a soft-boundary detector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imboost.arrays import Indices
from imboost.query.strategy import Rng, Scores
from imboost.validation import check_number


@dataclass(frozen=True)
class DecisionBoundary:
    """Select the rows whose scores are nearest to the quantile 1 - nu.

    Soft-boundary Deep SVDD chooses its radius so that a fraction nu of the rows lies outside the
    sphere, so that with the same nu these are the rows nearest to the sphere. For other detectors
    the same quantile of their scores is used. No state.

    Parameters
    ----------
    outside : float
        nu, the fraction of rows outside the boundary.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> DecisionBoundary(outside=0.2).select(np.arange(11.0), np.arange(11), 3, rng).tolist()
    [8, 7, 9]
    """

    outside: float = 0.3

    def __post_init__(self) -> None:
        check_number("outside", self.outside, minimum=0.0, maximum=1.0)

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates nearest to the boundary, nearest first."""
        return nearest_to(np.quantile(scores, 1.0 - self.outside), scores, candidates, n)


def nearest_to(level: float, scores: Scores, candidates: Indices, n: int) -> Indices:
    """Return the `n` candidates whose scores are nearest to `level`, nearest first."""
    distance = np.abs(scores[candidates] - level)
    return candidates[np.argsort(distance, kind="stable")[:n]]
