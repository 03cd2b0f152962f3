"""A two-component Gaussian mixture over one-dimensional scores."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from imboost.arrays import Floats

MAX_FIT_ROWS = 100_000
"""Maximum number of scores that the mixture is fitted to, drawn at random: its five parameters
are then known to a fraction of a percent, and a larger fit would take longer than the training."""
N_WEIGHTED_ITERATIONS = 100  # as many as scikit-learn makes at most
MIN_VARIANCE = 1e-6  # of standardised scores, as scikit-learn's `reg_covar`


@dataclass(frozen=True)
class TwoGaussians:
    """Parameters of a fitted mixture; component 0 is the one with the smaller mean."""

    means: Floats
    variances: Floats
    weights: Floats

    def inlier_posterior(self, scores: NDArray[np.floating]) -> Floats:
        """Probability that each score comes from the smaller-mean component."""
        squares = np.square(np.asarray(scores, dtype=np.float64) - self.means[:, None])
        constant = np.log(self.weights) - 0.5 * np.log(self.variances)
        lower, upper = squares * (-0.5 / self.variances)[:, None] + constant[:, None]
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(upper - lower, -700.0, 700.0))))


def fit_two_gaussians(
    scores: NDArray[np.floating],
    rng: np.random.Generator,
    weights: Floats | None = None,
) -> TwoGaussians | None:
    """Fit a mixture of two Gaussians to `scores`; return None if all scores are equal.

    Scores are standardised for the fit, so that its regularisation does not depend on their scale.
    With weights, scikit-learn's mixture, which takes none, is the start of a weighted one.
    """
    values = np.asarray(scores, dtype=np.float64)
    if len(values) > MAX_FIT_ROWS:
        drawn = rng.choice(len(values), MAX_FIT_ROWS, replace=False, shuffle=False)
        values, weights = values[drawn], None if weights is None else weights[drawn]
    centre, spread = values.mean(), values.std()
    standard = (values - centre) / spread if spread > 0 else values - centre
    if len(np.unique(standard)) < 2:
        return None
    mixture = GaussianMixture(n_components=2, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture.fit(standard[:, None])
    order = np.argsort(mixture.means_[:, 0])
    found = TwoGaussians(
        mixture.means_[order, 0], mixture.covariances_[order, 0, 0], mixture.weights_[order]
    )
    if weights is not None:
        found = _fit_weighted(standard, weights, found)
    return TwoGaussians(found.means * spread + centre, found.variances * spread**2, found.weights)


def _fit_weighted(scores: Floats, weights: Floats, start: TwoGaussians) -> TwoGaussians:
    """Fit a mixture by expectation maximisation in which rows count by their weights."""
    found = start
    for _ in range(N_WEIGHTED_ITERATIONS):
        lower = found.inlier_posterior(scores)
        counts = weights * np.stack([lower, 1 - lower])  # (components, rows)
        totals = counts.sum(axis=1).clip(min=np.finfo(float).tiny)
        means = counts @ scores / totals
        variances = (counts * np.square(scores - means[:, None])).sum(axis=1) / totals
        found = TwoGaussians(means, variances + MIN_VARIANCE, totals / totals.sum())
    order = np.argsort(found.means)
    return TwoGaussians(found.means[order], found.variances[order], found.weights[order])
