"""Logistic regression with Gaussian priors on its coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]


def fit_map_logistic(
    inputs: Floats, labels: NDArray[Any], mean: Floats, std: Floats
) -> tuple[Floats, Floats]:
    """Return the maximum a posteriori coefficients and the Hessian of the negative log-posterior.

    Newton's method. Each step is halved until the loss decreases: on extreme inputs full steps
    may oscillate without converging.

    Parameters
    ----------
    inputs : array of shape (n_rows, n_inputs)
    labels : array of shape (n_rows,)
        0 or 1.
    mean, std : array of shape (n_inputs,)
        Mean and standard deviation of the Gaussian prior of each coefficient.
    """
    precision = 1 / np.square(std)

    def negative_log_posterior(coefficients: Floats) -> float:
        log_odds = np.einsum("ij,j->i", inputs, coefficients)
        losses = np.logaddexp(0, log_odds) - labels * log_odds
        return float(losses.sum() + 0.5 * precision @ np.square(coefficients - mean))

    coefficients, smallest = mean.copy(), negative_log_posterior(mean)
    for _ in range(50):
        probability = expit(np.einsum("ij,j->i", inputs, coefficients))
        gradient = inputs.T @ (probability - labels) + precision * (coefficients - mean)
        variance = probability * (1 - probability)
        hessian = (inputs * variance[:, None]).T @ inputs + np.diag(precision)
        step = np.linalg.solve(hessian, gradient)
        while (reached := negative_log_posterior(coefficients - step)) > smallest:
            step = step / 2
        if np.abs(step).max() < 1e-8:
            break
        coefficients, smallest = coefficients - step, reached
    return coefficients, hessian
