"""The IWAE and CUBO bounds on a log-likelihood, as functions of importance log-weights.

A log-weight is ``log p(x, z_k) - log q(z_k | x)`` for a sample ``z_k`` of the encoder. With
one exact weight (a model whose likelihood is known) both bounds equal that likelihood.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def iwae(log_w: Tensor, dim: int = -2) -> Tensor:
    r"""Importance-weighted lower bound of ``log p(x)`` (IWAE; paper, appendix A-I).

    .. math:: \log \frac{1}{K} \sum_k w_k

    In expectation it rises with the number of samples K and never passes the log-evidence. The
    samples are along `dim`.
    """
    return torch.logsumexp(log_w, dim) - math.log(log_w.shape[dim])


def cubo(log_w: Tensor, power: float = 2.0, dim: int = -2) -> Tensor:
    r"""Chi-square upper bound of ``log p(x)`` (CUBO; paper, appendix A-II).

    .. math:: \frac{1}{v} \log \frac{1}{K} \sum_k w_k^v

    The exponent v > 1 is `power`.
    """
    return iwae(power * log_w, dim) / power
