"""Strategies that look at the scores of the rows alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from imboost.arrays import Floats, Indices
from imboost.labels import OUTLIER, Labels
from imboost.query.protocols import Rng, Scores
from imboost.stats.mixture import fit_two_gaussians
from imboost.validation import check_number


def smallest(values: Floats, candidates: Indices, n: int) -> Indices:
    """Return the `n` candidates with the smallest values, one for each candidate."""
    return candidates[np.argsort(values, kind="stable")[:n]]


@dataclass(frozen=True)
class RandomRows:
    """RD: rows drawn uniformly at random. No state.

    >>> rng = np.random.default_rng(0)
    >>> len(RandomRows().select(np.zeros(9), np.arange(9), 3, rng))
    3
    """

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return `n` random candidates."""
        return rng.choice(candidates, min(n, len(candidates)), replace=False)


@dataclass(frozen=True)
class HighestScores:
    """HC: rows with the highest scores. No state.

    >>> rng = np.random.default_rng(0)
    >>> HighestScores().select(np.arange(10.0), np.arange(8), 3, rng).tolist()
    [7, 6, 5]
    """

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates with the highest scores, highest first."""
        return smallest(-scores[candidates], candidates, n)


@dataclass(frozen=True)
class ConfidencePoles:
    """CP: half of the rows by the lowest scores and half by the highest.

    If the number is odd, one more has a high score. No state.

    >>> rng = np.random.default_rng(0)
    >>> ConfidencePoles().select(np.arange(10.0), np.arange(10), 4, rng).tolist()
    [0, 1, 9, 8]
    """

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates at both ends, lowest first, then highest first."""
        n = min(n, len(candidates))
        ranked = smallest(scores[candidates], candidates, len(candidates))
        return np.concatenate([ranked[: n // 2], ranked[::-1][: n - n // 2]])


@dataclass(frozen=True)
class DecisionBoundary:
    """DB: rows whose scores are nearest to the quantile 1 - nu.

    Soft-boundary Deep SVDD chooses its radius so that a share nu of the rows lies outside the
    sphere, so that with the same nu these are the rows nearest to the sphere. For other detectors
    the same quantile of their scores is used. No state.

    >>> rng = np.random.default_rng(0)
    >>> DecisionBoundary(outside=0.2).select(np.arange(11.0), np.arange(11), 3, rng).tolist()
    [8, 7, 9]
    """

    outside: float = 0.3  # nu, the share of rows outside the boundary

    def __post_init__(self) -> None:
        check_number("outside", self.outside, minimum=0.0, maximum=1.0)

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates nearest to the boundary, nearest first."""
        boundary = np.quantile(scores, 1.0 - self.outside)
        return smallest(np.abs(scores[candidates] - boundary), candidates, n)


@dataclass
class AdaptiveBoundary:
    """AB: rows nearest to a quantile of the scores that adapts to the answers.

    A round with more outliers than inliers lowers the boundary, one with fewer raises it, by a
    factor that depends on the share of outliers, until half of the answers are outliers. The
    state is the share of rows above the boundary.

    References
    ----------
    Kim et al., "Active anomaly detection based on deep one-class classification", Pattern
    Recognition Letters 2023. The paper adapts the percentile; the size of the step is ours.

    Examples
    --------
    >>> boundary = AdaptiveBoundary(start=0.1, step=2.0)
    >>> answers = np.array([1, 1, 1, 1], dtype=np.int8)
    >>> boundary.update(answers, all_labels=answers)
    >>> boundary.outside
    0.2
    """

    start: float = 0.1  # share of the rows above the boundary in the first round
    step: float = 2.0  # that it is multiplied by after a round of outliers, divided after inliers
    outside: float = field(init=False)

    def __post_init__(self) -> None:
        check_number("start", self.start, above=0.0, maximum=1.0)
        check_number("step", self.step, minimum=1.0)
        self.outside = self.start

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates nearest to the boundary, nearest first."""
        return DecisionBoundary(self.outside).select(scores, candidates, n, rng)

    def update(self, round_labels: Labels, all_labels: Labels) -> None:
        """Move the boundary by the share of outliers in the last round."""
        if len(round_labels):
            share = float((round_labels == OUTLIER).mean())
            self.outside = min(self.outside * self.step ** (2 * share - 1), 1.0)


@dataclass(frozen=True)
class MixtureBoundary:
    """MM: rows whose posterior probability of being an inlier is closest to `alpha`.

    A mixture of two Gaussians is fitted to the scores of all rows; the component with the
    smaller mean represents the inliers. If all scores are equal, rows are selected at random. No
    state.
    """

    alpha: float = 0.4

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, minimum=0.0, maximum=1.0)

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates nearest to the boundary, nearest first."""
        mixture = fit_two_gaussians(scores, rng)
        if mixture is None:
            return RandomRows().select(scores, candidates, n, rng)
        posterior = mixture.inlier_posterior(scores[candidates])
        return smallest(np.abs(posterior - self.alpha), candidates, n)


@dataclass(frozen=True)
class Mix:
    """MIX: a third by the highest scores, a third by uncertainty and a third at random.

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
        uncertain = smallest(np.abs(scores[others] - middle), others, third)
        others = np.setdiff1d(others, uncertain)
        drawn = RandomRows().select(scores, others, n - 2 * third, rng)
        return np.concatenate([highest, uncertain, drawn])
