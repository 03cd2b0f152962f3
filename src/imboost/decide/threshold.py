"""Where to draw the line between rows that are called outliers and the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels
from imboost.stats.mixture import fit_two_gaussians

UNTOLD_SHARE = 0.1
"""Of outliers, where scores do not say."""

LEAST_GAP = 2.0
"""Two clusters are told apart if their means differ by more standard deviations than this, of
their mean variance (Ashman's D)."""

FAR_ABOVE = 3.0
"""Without two clusters, rows so many standard deviations above the median count as outliers."""

LARGEST_SHARE = 0.2
"""Of outliers that no label speaks for; a larger cluster of rows is usual."""

Floats = NDArray[np.float64]


def share_by_mixture(scores: Floats, seed: int = 0) -> float:
    """Return the share of rows in the upper of two clusters of scores.

    Where there are no two clusters, or too many rows are in the upper one, it is the share of
    rows far above the median, by how the rows below it are spread; and where that says nothing,
    one row in ten.
    """
    mixture = fit_two_gaussians(scores, np.random.default_rng(seed))
    if mixture is None:
        return UNTOLD_SHARE
    middle = np.median(scores)
    below = scores[scores <= middle] - middle
    shares = [float(np.mean(scores > middle + FAR_ABOVE * np.sqrt(np.square(below).mean())))]
    if np.ptp(mixture.means) > LEAST_GAP * np.sqrt(mixture.variances.mean()):
        is_upper = (mixture.inlier_posterior(scores) < 0.5) & (scores > mixture.means[0])
        shares.insert(0, float(is_upper.mean()))
    return next((share for share in shares if 0 < share <= LARGEST_SHARE), UNTOLD_SHARE)


def share_without_outliers(scores: Floats, share: float, labels: Labels) -> float:
    """Return what is left of a share of outliers when no answer said outlier.

    If answers said inlier of `n` rows in that share, one of `n + 1` rows in it may be an outlier.
    """
    called = scores > threshold_by_share(scores, share)
    return share / (1 + int((labels[called] == INLIER).sum()))


def threshold_by_share(scores: Floats, share: float) -> float:
    """Return the threshold above which a share of the rows lies."""
    if share == 1:
        return _below(scores.min(), scores[:0])
    return float(np.quantile(scores, 1.0 - share))


def threshold_by_probability(scores: Floats, probability: Floats, least: float = 0.5) -> float:
    """Return the threshold above which rows are outliers with at least some probability.

    Rows have the higher a probability the higher they score; the threshold lies half-way
    between the rows it parts.
    """
    called = probability >= least
    if not called.any():
        return float(scores.max())
    lowest = scores[called].min()
    return _below(lowest, scores[scores < lowest])


def threshold_by_precision(
    scores: Floats, probability: Floats, labels: Labels, precision: float
) -> tuple[float, float]:
    """Return the lowest threshold above which so many rows are outliers, and how many are.

    Answered rows count as they were answered, others by their probability. Where no threshold
    reaches that precision, it is the one that comes nearest.
    """
    likely = np.where(labels == UNLABELLED, probability, labels == OUTLIER)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[:-1] != ranked[1:], True))  # ties go together
    shares = np.cumsum(likely[order])[ends] / (ends + 1)
    good = np.flatnonzero(shares >= precision)
    best = good[-1] if len(good) else shares.argmax()
    return _below(ranked[ends[best]], ranked[ends[best + 1 : best + 2]]), float(shares[best])


def _below(lowest: float, next_ones: Floats) -> float:
    """Return a threshold below the lowest score, half-way to the next where there is one."""
    if len(next_ones):
        return float(lowest / 2 + next_ones.max() / 2)
    return float(np.nextafter(lowest, -np.inf))
