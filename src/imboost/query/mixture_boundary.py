"""MM: rows on the boundary between two clusters of scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imboost.arrays import Indices
from imboost.query.random_rows import RandomRows
from imboost.query.strategy import Rng, Scores
from imboost.stats.mixture import fit_two_gaussians
from imboost.validation import check_number


@dataclass(frozen=True)
class MixtureBoundary:
    """Select the rows whose posterior probability of being an inlier is closest to `alpha`.

    A mixture of two Gaussians is fitted to the scores of all rows; the component with the
    smaller mean represents the inliers. If all scores are equal, rows are selected at random. No
    state.

    Parameters
    ----------
    alpha : float
        The target posterior probability.
    """

    alpha: float = 0.4

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, minimum=0.0, maximum=1.0)

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates nearest to the boundary, nearest first."""
        mixture = fit_two_gaussians(scores, rng)
        if mixture is None:
            return RandomRows().select(scores, candidates, n, rng)
        distance = np.abs(mixture.inlier_posterior(scores[candidates]) - self.alpha)
        return candidates[np.argsort(distance, kind="stable")[:n]]
