"""AB: rows on a boundary that adapts until half of the answers are outliers."""

from __future__ import annotations

from dataclasses import dataclass, field

from imboost.arrays import Indices
from imboost.labels import OUTLIER, Labels
from imboost.query.decision_boundary import DecisionBoundary
from imboost.query.strategy import Rng, Scores
from imboost.validation import check_number


@dataclass
class AdaptiveBoundary:
    """Select the rows nearest to a quantile of the scores that adapts to the answers.

    A round with more outliers than inliers lowers the boundary, one with fewer raises it, by a
    factor that depends on the fraction of outliers. The state is the fraction of rows above the
    boundary.

    Parameters
    ----------
    start : float
        Fraction of the rows above the boundary in the first round.
    step : float
        Factor by which that fraction grows after a round with outliers only; it is divided by it
        after a round with inliers only.

    References
    ----------
    Kim et al., "Active anomaly detection based on deep one-class classification", Pattern
    Recognition Letters 2023. The paper adapts the percentile; the size of the step is ours.

    Examples
    --------
    >>> import numpy as np
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
        check_number("start", self.start, above=0.0, maximum=1.0)
        check_number("step", self.step, minimum=1.0)
        self.outside = self.start

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates nearest to the boundary, nearest first."""
        return DecisionBoundary(self.outside).select(scores, candidates, n, rng)

    def update(self, round_labels: Labels, all_labels: Labels) -> None:
        """Move the boundary by the fraction of outliers in the last round."""
        if len(round_labels):
            fraction = float((round_labels == OUTLIER).mean())
            self.outside = min(self.outside * self.step ** (2 * fraction - 1), 1.0)
