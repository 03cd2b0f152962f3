"""Phase 1 of the paper, warm-up: plain risk (eq. 1), then trimmed risk (eq. 2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from imboost.arrays import Indices
from imboost.models.backbone import Backbone
from imboost.models.bounds import iwae
from imboost.training.loop import Objective, Schedule, Step, epoch_steps

Trim = Callable[[Tensor, Tensor], Tensor]
"""Computes a risk (members,) from losses (members, rows) and a threshold (members,)."""


def iwae_losses(model: Backbone, x: Tensor, noise: Tensor) -> Tensor:
    """Per-row loss l(theta; x), the negative IWAE bound, of a batch: (members, rows)."""
    return -iwae(model.log_weights(x, noise, batch_statistics=True))


def draw_noise(model: Backbone, rows: Indices, generator: torch.Generator) -> tuple[Tensor]:
    """Draw the noise of a batch, the only input of the risks of the warm-up."""
    return (model.draw_noise(len(rows), generator),)


def plain_risk(losses: Tensor) -> Tensor:
    """Mean loss of the batch (eq. 1): (members, rows) to (members,)."""
    return losses.mean(-1)


def trimmed_risk(losses: Tensor, threshold: Tensor) -> Tensor:
    """Mean loss of the rows not above the threshold tau_t (eq. 2), 0 if there are none.

    The losses are (members, rows), the threshold and the risk (members,).
    """
    kept = kept_rows(losses, threshold)
    return torch.where(kept, losses, 0.0).sum(-1) / kept.sum(-1).clamp(min=1)


def kept_rows(losses: Tensor, threshold: Tensor) -> Tensor:
    """Return a mask of the rows in the trimmed risk: (members, rows), not differentiable."""
    return losses.detach() <= threshold.unsqueeze(-1)


def loss_quantile(losses: Tensor, quantile: float) -> Tensor:
    """Return q_rho, the `quantile` of the batch's losses: (members,)."""
    rank = min(max(math.ceil(quantile * losses.shape[-1]), 1), losses.shape[-1])
    return torch.kthvalue(losses.detach(), rank, dim=-1).values


def warmup_steps(
    schedule: Schedule,
    n_rows: int,
    rng: np.random.Generator,
    *,
    trim_quantile: float,
    trim: Trim = trimmed_risk,
) -> Iterator[Step[Backbone]]:
    """Return the steps of phase 1: plain epochs, then trimmed ones with growing batches.

    `trim_quantile` (rho) is the fraction of a batch in the trimmed risk. `trim` computes that
    risk; it can be replaced to record which rows are kept.
    """

    def risk(model: Backbone, x: Tensor, noise: Tensor) -> Tensor:
        losses = iwae_losses(model, x, noise)
        return trim(losses, loss_quantile(losses, trim_quantile))

    trimmed = Objective(draw_noise, risk)

    def objective_at(epoch: int) -> Objective[Backbone]:
        return PLAIN if epoch < schedule.plain_epochs else trimmed

    epochs = range(schedule.warmup_epochs)
    return epoch_steps(schedule, epochs, n_rows, rng, objective_at)


def plain_steps(
    schedule: Schedule, n_epochs: int, n_rows: int, rng: np.random.Generator
) -> Iterator[Step[Backbone]]:
    """Return steps on the plain risk alone, with batches of constant size."""
    constant = replace(schedule, plain_epochs=n_epochs)
    return epoch_steps(constant, range(n_epochs), n_rows, rng, lambda _: PLAIN)


PLAIN: Objective[Backbone] = Objective(
    draw_noise, lambda model, x, noise: plain_risk(iwae_losses(model, x, noise))
)
"""The plain risk of a batch (eq. 1)."""
