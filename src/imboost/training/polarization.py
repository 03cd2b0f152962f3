"""Phase 2 of the paper, polarization: the adaptive threshold (eq. 5) and the risk (eq. 3)."""

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
from imboost.training.scaled_rows import ScaledRows
from imboost.training.warmup import Trim, draw_noise, iwae_losses, loss_quantile, trimmed_risk

MIN_POOL = 2  # unlabelled rows; with fewer, batch normalisation and the trimmed loss are undefined


@dataclass(frozen=True)
class PolarizationSettings:
    """Weights and threshold of the polarized risk.

    Parameters
    ----------
    inlier_weight : float
        lambda_1, weight of the labelled inliers' risk.
    outlier_weight : float
        lambda_2, weight of the labelled outliers' risk.
    threshold_mix : float
        xi, weight of the labelled inliers' risk in the threshold (eq. 5).
    trim_quantile : float
        rho, the quantile in the threshold.
    decay : bool
        Whether both weights are divided by gamma in every epoch of polarization, as the theory
        assumes (proposition 2), or are constant, as in the paper's experiments.
    """

    inlier_weight: float = 2.0
    outlier_weight: float = 1.0
    threshold_mix: float = 0.4
    trim_quantile: float = 0.92
    decay: bool = False

    def factor_at(self, epoch: int, schedule: Schedule) -> float:
        """Return gamma^-(epoch - warmup_epochs) if the weights decay, else 1."""
        if not self.decay:
            return 1.0
        return float(schedule.batch_growth ** -(epoch - schedule.warmup_epochs))


def adaptive_threshold(quantile: Tensor, inlier_risk: Tensor, mix: float) -> Tensor:
    """Adaptive threshold tau_t between a loss quantile and the inliers' risk (eq. 5)."""
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
    rows: ScaledRows,
    labels: Labels,
    rng: np.random.Generator,
    weights: PolarizationSettings,
    trim: Trim = trimmed_risk,
) -> Iterator[Step[Backbone]]:
    """Return the steps of phase 2 over `epochs` with the current labels.

    Labelled rows leave the unlabelled pool. Without labelled inliers the threshold is the
    quantile alone; a term without rows is 0.
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
            inlier_risk, outlier_risk = labelled_risks(model, rows, known, generator)
            unlabelled_risk = torch.zeros_like(inlier_risk)
            if x.shape[-1]:
                losses = iwae_losses(model, x, generator)
                threshold = loss_quantile(losses, weights.trim_quantile)
                if len(inliers):
                    risk = inlier_risk.detach()
                    threshold = adaptive_threshold(threshold, risk, weights.threshold_mix)
                unlabelled_risk = trim(losses, threshold)
            return polarized_risk(unlabelled_risk, inlier_risk, outlier_risk, weights, factor)

        return objective

    return epoch_steps(schedule, epochs, pool, rng, objective_at)


def labelled_risks(
    model: Backbone, rows: ScaledRows, known: list[NDArray[np.int64]], generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Risks R^i (IWAE) and R^o (CUBO) of labelled rows, each (members,), 0 without rows.

    Both come from one forward pass, normalised by the running averages: labelled rows are few and
    not typical, so their own batch statistics would hide how they differ.

    Parameters
    ----------
    model : Backbone
    rows : ScaledRows
        The training table.
    known : list of two arrays
        Indices of labelled inliers and of labelled outliers.
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
