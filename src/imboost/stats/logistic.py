"""Logistic regression with Gaussian priors on its coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

STEPS = 50
"""Steps of Newton's method, at most."""

CLOSE = 1e-8
"""Smaller steps are not taken."""


def likeliest_coefficients(
    inputs: Floats, answers: NDArray[Any], mean: Floats, spread: Floats
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the likeliest coefficients under Gaussian priors, and how the loss bends there.

    Newton's method; a step is halved until the loss falls, since inputs may be so far out that
    a whole one would jump to and fro for ever.

    Parameters
    ----------
    inputs : array of shape (n_rows, n_inputs)
    answers : array of shape (n_rows,)
        0 or 1.
    mean, spread : array of shape (n_inputs,)
        Mean and standard deviation of the coefficients before any answer.
    """
    trust = 1 / np.square(spread)

    def loss(coefficients: Floats) -> float:
        odds = np.einsum("ij,j->i", inputs, coefficients)
        misfit = np.logaddexp(0, odds) - answers * odds
        return float(misfit.sum() + 0.5 * trust @ np.square(coefficients - mean))

    coefficients, smallest = mean.copy(), loss(mean)
    for _ in range(STEPS):
        share = expit(np.einsum("ij,j->i", inputs, coefficients))
        slope = inputs.T @ (share - answers) + trust * (coefficients - mean)
        bend = (inputs * (share * (1 - share))[:, None]).T @ inputs + np.diag(trust)
        step = np.linalg.solve(bend, slope)
        while (reached := loss(coefficients - step)) > smallest:
            step = step / 2
        if np.abs(step).max() < CLOSE:
            break
        coefficients, smallest = coefficients - step, reached
    return coefficients, bend
