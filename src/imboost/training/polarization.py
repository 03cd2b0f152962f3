"""Phase 2 of the paper, polarization: the adaptive threshold (eq. 5) and the risk (eq. 3)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import torch
from torch import Tensor

from imboost.arrays import Indices
from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels
from imboost.models.backbone import Backbone
from imboost.models.bounds import cubo, iwae
from imboost.training.loop import Objective, Schedule, Step, draw_at_most, epoch_steps
from imboost.training.scaled_rows import ScaledRows
from imboost.training.warmup import Trim, iwae_losses, loss_quantile, trimmed_risk

MIN_POOL = 2  # unlabelled rows; with fewer, batch normalisation and the trimmed loss are undefined


def adaptive_threshold(quantile: Tensor, inlier_risk: Tensor, mix: float) -> Tensor:
    """Adaptive threshold tau_t between a loss quantile and the inliers' risk (eq. 5)."""
    return (1 - mix) * quantile + mix * inlier_risk


def polarized_risk(
    unlabelled_risk: Tensor,
    inlier_risk: Tensor,
    outlier_risk: Tensor,
    inlier_weight: float,
    outlier_weight: float,
) -> Tensor:
    """Trimmed risk plus weighted inlier risk minus weighted outlier risk (eq. 3)."""
    return unlabelled_risk + inlier_weight * inlier_risk - outlier_weight * outlier_risk


def weight_factor(epoch: int, schedule: Schedule) -> float:
    """Return the decay of the weights in an epoch, gamma^-(epoch - warmup_epochs)."""
    return float(schedule.batch_growth ** -(epoch - schedule.warmup_epochs))


def polarization_steps(
    schedule: Schedule,
    epochs: range,
    rows: ScaledRows,
    labels: Labels,
    rng: np.random.Generator,
    *,
    inlier_weight: float = 2.0,
    outlier_weight: float = 1.0,
    threshold_mix: float = 0.4,
    trim_quantile: float = 0.92,
    decay: bool = False,
    hinge_margin: float | None = None,
    trim: Trim = trimmed_risk,
) -> Iterator[Step[Backbone]]:
    """Return the steps of phase 2 over `epochs` with the current labels.

    Labelled rows leave the unlabelled pool. Without labelled inliers the threshold is the
    quantile alone; a term without rows is 0. With `decay`, both weights are divided by gamma in
    every epoch, as the theory assumes (proposition 2); in the paper's experiments they are
    constant. With `hinge_margin`, the losses of labelled rows are bounded, see `loss_bounds`. See
    `IMBoost` for the other settings.
    """
    pool = np.flatnonzero(labels == UNLABELLED)
    if len(pool) < MIN_POOL:
        pool = pool[:0]
    inliers = np.flatnonzero(labels == INLIER)
    outliers = np.flatnonzero(labels == OUTLIER)

    @cache  # one objective, and thus one CUDA graph, for many epochs
    def objective_with(n_inliers: int, n_outliers: int, factor: float) -> Objective[Backbone]:
        weights = factor * inlier_weight, factor * outlier_weight

        def draw(
            model: Backbone, batch: Indices, generator: torch.Generator
        ) -> tuple[Tensor, Tensor, Tensor]:
            labelled = np.concatenate(
                [draw_at_most(inliers, n_inliers, rng), draw_at_most(outliers, n_outliers, rng)]
            )
            labelled_noise = model.draw_noise(len(labelled), generator)
            noise = model.draw_noise(len(batch), generator)
            return noise, torch.from_numpy(labelled), labelled_noise

        def risk(
            model: Backbone,
            x: Tensor,
            noise: Tensor,
            labelled: Tensor,
            labelled_noise: Tensor,
        ) -> Tensor:
            labelled_x = rows.take(labelled)  # (features, rows), inliers first
            inlier_losses, outlier_losses = labelled_losses(
                model, labelled_x, n_inliers, labelled_noise
            )
            has_pool = x.shape[-1] > 0  # otherwise all rows are labelled
            losses = iwae_losses(model, x, noise) if has_pool else inlier_losses
            if hinge_margin is not None and losses.shape[-1]:
                low, high = loss_bounds(losses, trim_quantile, hinge_margin)
                inlier_losses = torch.maximum(inlier_losses, low) if has_pool else losses
                outlier_losses = torch.minimum(outlier_losses, high)
            inlier_risk, risk = _risk(inlier_losses), torch.zeros(model.n_members, device=x.device)
            if has_pool:
                threshold = loss_quantile(losses, trim_quantile)
                if len(inliers):
                    threshold = adaptive_threshold(threshold, inlier_risk.detach(), threshold_mix)
                risk = trim(losses, threshold)
            return polarized_risk(risk, inlier_risk, _risk(outlier_losses), *weights)

        return Objective(draw, risk)

    def objective_at(epoch: int) -> Objective[Backbone]:
        size = schedule.batch_size_at(epoch, len(labels))
        factor = weight_factor(epoch, schedule) if decay else 1.0
        return objective_with(min(len(inliers), size), min(len(outliers), size), factor)

    return epoch_steps(schedule, epochs, pool, rng, objective_at)


def loss_bounds(losses: Tensor, quantile: float, margin: float) -> tuple[Tensor, Tensor]:
    """Bounds of the labelled inliers' losses from below and of the outliers' from above.

    They are the median m and q + margin (q - m), with the `quantile` q of unlabelled losses
    (members, rows); each is (members, 1). A labelled inlier as typical as the median row, or an
    outlier clearly above the quantile, needs no further training. Without bounds, the loss of a
    few labelled outliers can grow without limit, and the model no longer fits the other rows. If
    all rows are labelled, the losses are those of the inliers, and the outliers alone are bounded.
    """
    median, high = (loss_quantile(losses, part).unsqueeze(-1) for part in (0.5, quantile))
    return median, high + margin * (high - median)


def labelled_losses(
    model: Backbone, x: Tensor, n_inliers: int, noise: Tensor
) -> tuple[Tensor, Tensor]:
    """Losses of labelled inliers (IWAE) and outliers (CUBO), each (members, rows).

    Both come from one forward pass, normalised by the running averages: labelled rows are few and
    not typical, so their own batch statistics would hide how they differ. `x` (features, rows)
    holds `n_inliers` labelled inliers, then the labelled outliers.
    """
    if x.shape[-1] == 0:
        nothing = torch.zeros(model.n_members, 0, device=x.device)
        return nothing, nothing
    log_w = model.log_weights(x, noise, batch_statistics=False)  # (members, samples, rows)
    return -iwae(log_w[..., :n_inliers]), -cubo(log_w[..., n_inliers:])


def _risk(losses: Tensor) -> Tensor:
    """Mean loss (members,) of labelled rows, R^i or R^o; 0 without rows."""
    # Summed, not averaged: the sum over no rows is the wanted 0.
    return losses.sum(-1) / max(losses.shape[-1], 1)
