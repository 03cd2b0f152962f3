"""Layers of an ensemble: the parameters of all members in one tensor, applied in one call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BATCH_NORM_EPS = 1e-4
BATCH_NORM_MOMENTUM = 0.1
LEAKY_SLOPE = 0.01
LOGVAR_RANGE = (-6.0, 2.0)


Module = TypeVar("Module", bound=nn.Module)


def with_weights(module: Module, weights: Mapping[str, Tensor]) -> Module:
    """Return a new module with saved weights, in their precision; it takes no gradient."""
    module.load_state_dict(weights, assign=True)
    return module.requires_grad_(False)


def uniform_weight(
    n_members: int, n_out: int, n_in: int, generator: torch.Generator
) -> nn.Parameter:
    """Return weights drawn as torch's own linear layer draws them: U(-1, 1) / sqrt(n_in)."""
    weight = torch.rand(n_members, n_out, n_in, generator=generator)
    return nn.Parameter((2 * weight - 1) / math.sqrt(n_in))


class HiddenLayer(nn.Module):
    """Linear map without bias, batch normalisation without scale and shift, leaky ReLU."""

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, n_members: int, n_in: int, n_out: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = uniform_weight(n_members, n_out, n_in, generator)
        self.register_buffer("running_mean", torch.zeros(n_members, n_out, 1))
        self.register_buffer("running_var", torch.ones(n_members, n_out, 1))

    def forward(self, x: Tensor, batch_statistics: bool) -> Tensor:
        """Map (n_in, rows) or (members, n_in, rows) to (members, n_out, rows)."""
        if batch_statistics:
            hidden = self._normalise(torch.matmul(self.weight, x))
        else:
            # The running averages are constants here, so they fold into the small weights.
            scale = torch.rsqrt(self.running_var + BATCH_NORM_EPS)
            hidden = torch.matmul(self.weight * scale, x).sub_(self.running_mean * scale)
        return F.leaky_relu_(hidden, LEAKY_SLOPE)

    def _normalise(self, hidden: Tensor) -> Tensor:
        """Standardise every unit over the rows and update the running averages.

        With rows last, normalising a unit over its batch is a layer norm over the last
        dimension, which torch computes several times faster than its batch norm.
        """
        n_rows = hidden.shape[-1]
        normal, mean, rstd = torch.native_layer_norm(hidden, [n_rows], None, None, BATCH_NORM_EPS)
        with torch.no_grad():
            variance = rstd.pow(-2) - BATCH_NORM_EPS
            unbiased = variance * (n_rows / max(n_rows - 1, 1))
            self.running_mean.lerp_(mean, BATCH_NORM_MOMENTUM)
            self.running_var.lerp_(unbiased, BATCH_NORM_MOMENTUM)
        return normal


class GaussianHead(nn.Module):
    """The mean (no bias) and the clamped log-variance (with bias) of a Gaussian."""

    def __init__(self, n_members: int, n_in: int, n_out: int, generator: torch.Generator) -> None:
        super().__init__()
        # One weight for both halves saves a kernel call in each direction.
        self.weight = uniform_weight(n_members, 2 * n_out, n_in, generator)
        self.bias = nn.Parameter(torch.zeros(n_members, n_out, 1))

    def forward(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Map (members, n_in, rows) to two tensors of shape (members, n_out, rows)."""
        mean, logvar = torch.matmul(self.weight, hidden).chunk(2, dim=1)
        return mean, (logvar + self.bias).clamp(*LOGVAR_RANGE)
