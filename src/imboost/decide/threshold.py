"""The decision threshold, and the base rate where nothing is known about a table."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from imboost.arrays import Floats
from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels
from imboost.stats.mixture import fit_two_gaussians

AUTO: Final = "auto"  # contamination that is estimated from the scores and labels
ASSUMED_CONTAMINATION = 0.01
"""Share of outliers that probabilities without labels rest on, and that is predicted where
scores do not show another: few rows, those with the highest scores of all. An assumption."""

MAX_SHIFT = 500.0  # of log-odds; larger than any difference between them
MAX_CONTAMINATION = 0.2  # largest estimate without labels; a larger upper cluster is not outlying
MIN_SEPARATION = 2.0
"""Two clusters are separate if their means differ by more than this many standard deviations:
the bound given for Ashman's D (Ashman, Bird and Zepf, 1994)."""


def estimate_contamination(scores: Floats, seed: int = 0, weights: Floats | None = None) -> float:
    """Return the share of rows in the upper of two clusters of scores.

    Without two clusters, or if the upper one is too large, it is `ASSUMED_CONTAMINATION`, but at
    least one row. With weights, clusters and rows are those of the larger table.
    """
    assumed = max(ASSUMED_CONTAMINATION, 1 / count_rows(scores, weights))
    mixture = fit_two_gaussians(scores, np.random.default_rng(seed), weights)
    if mixture is None:
        return assumed
    if np.ptp(mixture.means) <= MIN_SEPARATION * np.sqrt(mixture.variances.mean()):
        return assumed
    is_upper = (mixture.inlier_posterior(scores) < 0.5) & (scores > mixture.means[0])
    upper = float(is_upper.mean() if weights is None else np.average(is_upper, weights=weights))
    return upper if 0 < upper <= MAX_CONTAMINATION else assumed


def contamination_without_outliers(
    scores: Floats, contamination: float, labels: Labels, weights: Floats | None = None
) -> float:
    """Lower an estimated contamination while no row is labelled outlier.

    If `n` rows above the threshold are labelled inliers, one in `n + 1` of the rows there is
    taken to be an outlier.
    """
    above = scores > threshold_by_contamination(scores, contamination, weights)
    return contamination / (1 + int((labels[above] == INLIER).sum()))


def threshold_by_clusters(
    scores: Floats, clustered: Floats, labels: Labels, seed: int, weights: Floats | None = None
) -> float:
    """Return the threshold below the upper of two clusters, which is only estimated.

    `clustered` are the scores, or log-odds that rise with them. No row is above the threshold if
    labelled inliers leave less than one outlier.
    """
    contamination = estimate_contamination(clustered, seed, weights)
    if OUTLIER not in labels:
        contamination = contamination_without_outliers(scores, contamination, labels, weights)
    if contamination * count_rows(scores, weights) < 1:
        return float(scores.max())
    return threshold_by_contamination(scores, contamination, weights)


def threshold_by_contamination(
    scores: Floats, contamination: float, weights: Floats | None = None
) -> float:
    """Return the threshold above which a share of the rows lies.

    With weights, the share is of a larger table: each row stands for that many of its rows.
    """
    if contamination == 1:
        return _threshold_below(scores.min(), scores[:0])
    if weights is None:
        return float(np.quantile(scores, 1.0 - contamination))
    return float(  # this method is the only one of numpy that takes weights
        np.quantile(scores, 1.0 - contamination, weights=weights, method="inverted_cdf")
    )


def threshold_by_probability(scores: Floats, probability: Floats, minimum: float = 0.5) -> float:
    """Return the threshold above which rows are outliers with at least this probability.

    Probabilities must not decrease with the score. The threshold lies half-way between the
    scores it separates.
    """
    selected = probability >= minimum
    if not selected.any():
        return float(scores.max())
    lowest = scores[selected].min()
    return _threshold_below(lowest, scores[scores < lowest])


def threshold_by_precision(
    scores: Floats,
    probability: Floats,
    labels: Labels,
    precision: float,
    weights: Floats | None = None,
) -> tuple[float, float]:
    """Return the lowest threshold with this expected precision, and the precision it has.

    Labelled rows count by their label, others by their probability. If no threshold reaches the
    precision, the one with the highest precision is returned.
    """
    expected = np.where(labels == UNLABELLED, probability, labels == OUTLIER)
    weights = np.ones(len(scores)) if weights is None else weights
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[:-1] != ranked[1:], True))  # last row of each tie
    precisions = (np.cumsum((expected * weights)[order]) / np.cumsum(weights[order]))[ends]
    sufficient = np.flatnonzero(precisions >= precision)
    best = sufficient[-1] if len(sufficient) else precisions.argmax()
    threshold = _threshold_below(ranked[ends[best]], ranked[ends[best + 1 : best + 2]])
    return threshold, float(precisions[best])


def count_rows(scores: Floats, weights: Floats | None) -> float:
    """Return the number of rows that the scores stand for."""
    return len(scores) if weights is None else float(weights.sum())


def _threshold_below(lowest: float, lower: Floats) -> float:
    """Return a threshold below a score, half-way to the next lower score if there is one."""
    if len(lower):
        return float(lowest / 2 + lower.max() / 2)
    return float(np.nextafter(lowest, -np.inf))


def base_rate_shift(log_odds: Floats, weights: Floats | None = None) -> float:
    """Return what to add to log-odds so that the mean probability is `ASSUMED_CONTAMINATION`.

    With weights, it is the mean over the larger table of which the rows are a sample.

    >>> shift = base_rate_shift(np.array([-3.0, -2.0, 1.0]))
    >>> round(float(expit(np.array([-3.0, -2.0, 1.0]) + shift).mean()), 3)
    0.01
    """

    def excess(shift: float) -> float:
        return float(np.average(expit(log_odds + shift), weights=weights)) - ASSUMED_CONTAMINATION

    return float(brentq(excess, -MAX_SHIFT, MAX_SHIFT))
