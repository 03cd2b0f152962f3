"""Calibration: the probability that a row is an outlier, given its score and the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import expit

from imboost.arrays import Floats, Mask
from imboost.labels import INLIER, OUTLIER, Labels
from imboost.stats.logistic import fit_map_logistic

MIN_SLOPE = 0.25  # lower bound of the slope, so that probabilities always increase with the score
PRIOR_MEAN, PRIOR_STD = np.array([0.0, 1.0, 0.0]), np.array([0.5, 1.0, 0.4])
"""Gaussian prior of intercept, slope and shift; at its mean, log-odds are used unchanged."""

IN_SAMPLE_SHIFT_STD = 3.0
"""Prior standard deviation of the shift if the detector was fitted on the labels: its scores of
labelled rows then say little about rows without a label."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Logistic calibration (Platt scaling) of log-odds, with a posterior over its coefficients.

    Query strategies select rows, so that labelled rows may hold more or fewer outliers than
    other rows with the same score. The curve of the other rows is therefore shifted relative to
    that of the selected rows. Audit answers, about rows drawn at random, identify the shift;
    without them only its prior is known.
    """

    mean: Floats  # (3,), posterior mode of intercept, slope and shift
    covariance: Floats  # (3, 3), by Laplace's approximation

    @classmethod
    def fit(
        cls,
        log_odds: Floats,
        labels: Labels,
        is_audit: Mask,
        *,
        out_of_fold: bool = True,
    ) -> Self:
        """Fit to the log-odds of labelled rows, some of which were drawn at random for an audit.

        If all labels are outliers, only audit rows are used: selected ones say nothing about how
        frequent outliers are. If the log-odds are not out-of-fold, audit rows count as selected
        ones, since the detector was fitted on their labels.
        """
        std = PRIOR_STD.copy()
        if not out_of_fold:
            std[2], is_audit = IN_SAMPLE_SHIFT_STD, np.zeros(len(is_audit), dtype=bool)
        if INLIER not in labels:
            log_odds, labels, is_audit = log_odds[is_audit], labels[is_audit], is_audit[is_audit]
        features, is_outlier = _features(log_odds, is_audit), labels == OUTLIER
        mean, hessian = fit_map_logistic(features, is_outlier, PRIOR_MEAN, std)
        if mean[1] < MIN_SLOPE:  # fix the slope at its bound
            prior_mean = PRIOR_MEAN.copy()
            prior_mean[1], std[1] = MIN_SLOPE, 1e-6
            mean, hessian = fit_map_logistic(features, is_outlier, prior_mean, std)
        return cls(mean, np.asarray(np.linalg.inv(hessian), dtype=np.float64))

    def probability(
        self, log_odds: Floats, *, selected: bool = False, shift: float = 0.0
    ) -> Floats:
        """Return outlier probabilities of rows drawn at random, or selected by a strategy."""
        features = _features(log_odds, np.full(len(log_odds), not selected))
        return np.asarray(expit(np.einsum("ij,j->i", features, self.mean) + shift))

    def sample_probabilities(self, log_odds: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Return outlier probabilities for `n` draws from the posterior: (draws, rows)."""
        curves = rng.multivariate_normal(self.mean, self.covariance, n, method="eigh")
        curves[:, 1] = np.maximum(curves[:, 1], MIN_SLOPE)
        return np.asarray(expit(curves @ _features(log_odds, np.ones(len(log_odds), bool)).T))


def _features(log_odds: Floats, at_random: Mask) -> Floats:
    return np.column_stack([np.ones(len(log_odds)), log_odds, at_random])
