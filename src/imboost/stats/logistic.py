"""Logistic regression with Gaussian priors on its coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from imboost.arrays import Floats


def fit_map_logistic(
    inputs: Floats,
    labels: NDArray[Any],
    mean: Floats,
    std: Floats,
    lower: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the maximum a posteriori coefficients and the Hessian of the negative log-posterior.

    The labels of the inputs (n_rows, n_inputs) are 0 or 1. Each coefficient has a Gaussian prior
    with this mean and standard deviation, and if given a smallest value allowed.
    """
    lower = np.full(len(mean), -np.inf) if lower is None else lower

    def loss_and_gradient(steps: Floats) -> tuple[float, Floats]:
        log_odds = np.einsum("ij,j->i", inputs, mean + std * steps)
        losses = np.logaddexp(0, log_odds) - labels * log_odds
        gradient = std * (inputs.T @ (expit(log_odds) - labels)) + steps
        return float(losses.sum() + 0.5 * steps @ steps), gradient

    # Steps in units of the prior's standard deviation make the problem well conditioned.
    found = minimize(
        loss_and_gradient,
        np.maximum(np.zeros(len(mean)), (lower - mean) / std),
        jac=True,
        method="L-BFGS-B",
        bounds=[(bound, None) for bound in (lower - mean) / std],
        options={"ftol": 1e-14, "gtol": 1e-8, "maxiter": 1000},
    )
    coefficients = np.maximum(mean + std * found.x, lower)
    probability = expit(np.einsum("ij,j->i", inputs, coefficients))
    variance = probability * (1 - probability)
    hessian = (inputs * variance[:, None]).T @ inputs + np.diag(1 / np.square(std))
    return coefficients, hessian
