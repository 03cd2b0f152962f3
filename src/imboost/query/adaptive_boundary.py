"""AB: the rows on a boundary that moves to where half of the answers are outliers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from imboost.labels import OUTLIER, Labels
from imboost.query.decision_boundary import DecisionBoundary
from imboost.query.strategy import Indices, Scores
from imboost.validation import check_number


@dataclass
class AdaptiveBoundary:
    """Choose the rows nearest to a quantile of the scores that follows the answers.

    Keeps state: the share of rows beyond the boundary. A round that brought more outliers
    than inliers moves the boundary inward, to lower scores, and one that brought fewer
    moves it outward, the further the less even the answers were.

    Parameters
    ----------
    start : float
        Share of all rows beyond the boundary in the first round.
    step : float
        Factor by which that share grows after a round of outliers alone, and by which it is
        divided after a round of inliers alone.

    References
    ----------
    Kim et al., "Active anomaly detection based on deep one-class classification", Pattern
    Recognition Letters 2023; the paper moves the percentile, its step is ours.

    Examples
    --------
    >>> boundary = AdaptiveBoundary(start=0.1, step=2.0)
    >>> answers = np.array([1, 1, 1, 1], dtype=np.int8)
    >>> boundary.update(answers, all_labels=answers)
    >>> boundary.outside
    0.2
    """

    start: float = 0.1
    step: float = 2.0
    outside: float = field(init=False)

    def __post_init__(self) -> None:
        """Check the settings and put the boundary where it starts."""
        check_number("start", self.start, above=0.0, maximum=1.0)
        check_number("step", self.step, minimum=1.0)
        self.outside = self.start

    def select(
        self, scores: Scores, candidates: Indices, n: int, rng: np.random.Generator
    ) -> Indices:
        """Return the `n` candidates nearest to the boundary, nearest first."""
        return DecisionBoundary(self.outside).select(scores, candidates, n, rng)

    def update(self, round_labels: Labels, all_labels: Labels) -> None:
        """Move the boundary by what the last round brought."""
        if len(round_labels) == 0:
            return
        share = float((round_labels == OUTLIER).mean())
        self.outside = min(self.outside * self.step ** (2 * share - 1), 1.0)
