"""Likelihoods of a decoder's output."""

from __future__ import annotations

import math

import torch
from torch import Tensor

EXACT_LOGVAR_WEIGHT = 0.5
"""The weight of the log-variance in a true Gaussian density."""
LOG_TWO_PI = math.log(2 * math.pi)


def gaussian_log_density(
    x: Tensor, mean: Tensor, logvar: Tensor, logvar_weight: float = EXACT_LOGVAR_WEIGHT
) -> Tensor:
    r"""Log-density of every cell of `x` under its own Gaussian.

    .. math:: -\frac{(x - \mu)^2}{2 \sigma^2} - c \log \sigma^2 - \frac{1}{2} \log 2 \pi

    Parameters
    ----------
    x, mean, logvar : Tensor
        Values and the parameters of their Gaussians, of shapes that broadcast.
    logvar_weight : float
        The factor c. One half gives the density; the paper's figures were made with 1,
        which charges uncertain reconstructions twice as much.
    """
    squared = (x - mean).square() * (-logvar).exp()
    # One multiply-add over the cells; this line is the widest of the whole computation.
    return torch.add(squared, logvar, alpha=2 * logvar_weight).add(LOG_TWO_PI).mul(-0.5)
