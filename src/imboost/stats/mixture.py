"""A two-component Gaussian mixture over one-dimensional scores."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

MAX_FIT_ROWS = 100_000
"""Maximum number of scores that the mixture is fitted to, drawn at random: its five parameters
are then known to a fraction of a percent, and a larger fit would take longer than the training."""


@dataclass(frozen=True)
class TwoGaussians:
    """Parameters of a fitted mixture; component 0 is the one with the smaller mean."""

    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    weights: NDArray[np.float64]

    def inlier_posterior(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """Probability that each score comes from the smaller-mean component."""
        squares = np.square(np.asarray(scores, dtype=np.float64) - self.means[:, None])
        constant = np.log(self.weights) - 0.5 * np.log(self.variances)
        lower, upper = squares * (-0.5 / self.variances)[:, None] + constant[:, None]
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(upper - lower, -700.0, 700.0))))


def fit_two_gaussians(
    scores: NDArray[np.floating],
    rng: np.random.Generator,
    weights: NDArray[np.float64] | None = None,
) -> TwoGaussians | None:
    """Fit a mixture of two Gaussians to `scores`; return None if all scores are equal.

    Scores are standardised for the fit, so that its regularisation does not depend on their scale.
    With weights it is fitted to scores drawn in proportion to them, since scikit-learn's mixture
    takes none.
    """
    values = np.asarray(scores, dtype=np.float64)
    if weights is not None:
        values = rng.choice(values, MAX_FIT_ROWS, p=weights / weights.sum())
    elif len(values) > MAX_FIT_ROWS:
        values = values[rng.choice(len(values), MAX_FIT_ROWS, replace=False, shuffle=False)]
    centre, spread = values.mean(), values.std()
    standard = (values - centre) / spread if spread > 0 else values - centre
    if len(np.unique(standard)) < 2:
        return None
    mixture = GaussianMixture(n_components=2, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture.fit(standard[:, None])
    order = np.argsort(mixture.means_[:, 0])
    return TwoGaussians(
        means=mixture.means_[order, 0] * spread + centre,
        variances=mixture.covariances_[order, 0, 0] * spread**2,
        weights=mixture.weights_[order],
    )
