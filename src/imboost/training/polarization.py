"""Phase 2 of the paper: the loss of answered inliers down, that of answered outliers up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels
from imboost.models.backbone import Backbone
from imboost.models.bounds import cubo, iwae
from imboost.training.batches import Schedule, draw_at_most
from imboost.training.loop import Objective, Step, epoch_steps
from imboost.training.rows import Rows
from imboost.training.warmup import Trim, draw_noise, inlier_losses, loss_quantile, trimmed_risk

MIN_POOL = 2
"""With fewer unlabelled rows than this there is no batch to normalise, and no trimmed loss."""


@dataclass(frozen=True)
class PolarizationSettings:
    """How much each part of the polarized loss counts, and what it leaves out.

    Parameters
    ----------
    inlier_weight : float
        lambda_1, weight of the answered inliers' risk.
    outlier_weight : float
        lambda_2, weight of the answered outliers' risk.
    threshold_mix : float
        xi, share of the answered inliers' risk in the threshold (eq. 5).
    trim_quantile : float
        rho, the quantile in the threshold.
    decay : bool
        Whether both weights fall by gamma with every epoch of polarization, as the theory
        assumes (proposition 2), or stay constant, as in the paper's experiments.
    """

    inlier_weight: float = 2.0
    outlier_weight: float = 1.0
    threshold_mix: float = 0.4
    trim_quantile: float = 0.92
    decay: bool = False

    def factor_at(self, epoch: int, schedule: Schedule) -> float:
        """Return gamma^-(t - T_1 - 1) in `epoch` if the weights decay, else 1."""
        if not self.decay:
            return 1.0
        return float(schedule.batch_growth ** -(epoch - schedule.warmup_epochs))


def mixed_threshold(quantile: Tensor, inlier_risk: Tensor, mix: float) -> Tensor:
    """Threshold between a quantile of the losses and the inliers' risk (eq. 5)."""
    return (1 - mix) * quantile + mix * inlier_risk


def polarized_risk(
    unlabelled_risk: Tensor,
    inlier_risk: Tensor,
    outlier_risk: Tensor,
    weights: PolarizationSettings,
    factor: float = 1.0,
) -> Tensor:
    """Trimmed risk plus weighted inlier risk minus weighted outlier risk (eq. 3)."""
    return (
        unlabelled_risk
        + factor * weights.inlier_weight * inlier_risk
        - factor * weights.outlier_weight * outlier_risk
    )


def polarization_steps(
    schedule: Schedule,
    epochs: range,
    rows: Rows,
    labels: Labels,
    rng: np.random.Generator,
    weights: PolarizationSettings,
    trim: Trim = trimmed_risk,
) -> Iterator[Step[Backbone]]:
    """Return the steps of phase 2 over `epochs` with the answers known so far.

    Answered rows leave the unlabelled pool. Without answered inliers the threshold is the
    plain quantile; a term without rows is left out.
    """
    pool = np.flatnonzero(labels == UNLABELLED)
    if len(pool) < MIN_POOL:
        pool = pool[:0]
    inliers = np.flatnonzero(labels == INLIER)
    outliers = np.flatnonzero(labels == OUTLIER)

    def objective_at(epoch: int) -> Objective[Backbone]:
        size = schedule.batch_size_at(epoch, len(labels))
        factor = weights.factor_at(epoch, schedule)

        def objective(model: Backbone, x: Tensor, generator: torch.Generator) -> Tensor:
            known = [draw_at_most(inliers, size, rng), draw_at_most(outliers, size, rng)]
            inlier_risk, outlier_risk = answered_risks(model, rows, known, generator)
            unlabelled_risk = torch.zeros_like(inlier_risk)
            if x.shape[-1]:
                losses = inlier_losses(model, x, generator)
                threshold = loss_quantile(losses, weights.trim_quantile)
                if len(inliers):
                    risk = inlier_risk.detach()
                    threshold = mixed_threshold(threshold, risk, weights.threshold_mix)
                unlabelled_risk = trim(losses, threshold)
            return polarized_risk(unlabelled_risk, inlier_risk, outlier_risk, weights, factor)

        return objective

    return epoch_steps(schedule, epochs, pool, rng, objective_at)


def answered_risks(
    model: Backbone, rows: Rows, known: list[NDArray[np.int64]], generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Risks R^i (IWAE) and R^o (CUBO) of answered rows, each (members,), 0 without rows.

    Both come from one pass, with the running averages in the normalisation: answered rows
    are few and not typical, so their own averages would hide what makes them odd.

    Parameters
    ----------
    model : Backbone
    rows : Rows
        The training table.
    known : list of two arrays
        Indices of answered inliers and of answered outliers.
    generator : torch.Generator
        Source of the noise.
    """
    counts = [len(index) for index in known]
    if sum(counts) == 0:
        nothing = torch.zeros(model.n_members, device=rows.device)
        return nothing, nothing
    x = rows.take(np.concatenate(known))  # (features, rows)
    noise = draw_noise(model, x, generator)
    log_w = model.log_weights(x, noise, batch_statistics=False)  # (members, samples, rows)
    inlier_w, outlier_w = log_w[..., : counts[0]], log_w[..., counts[0] :]
    # Summed, not averaged: the sum over no rows is the wanted 0.
    inlier_risk = -iwae(inlier_w).sum(-1) / max(counts[0], 1)
    outlier_risk = -cubo(outlier_w).sum(-1) / max(counts[1], 1)
    return inlier_risk, outlier_risk
