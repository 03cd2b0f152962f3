"""Risks and steps of the one-class detectors, in passes over the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels
from imboost.models.hypersphere import Hypersphere, MLPAutoencoder
from imboost.training.batches import Passes, draw_at_most
from imboost.training.loop import Step, pass_steps
from imboost.training.rows import Rows
from imboost.training.warmup import loss_quantile

MIN_DISTANCE = 1e-6
"""Keeps the inverse of a distance finite."""

Risk = Callable[[Tensor], Tensor]
"""Turns squared distances (members, rows) into a risk (members,)."""


def reconstruction_risk(x: Tensor, reconstructed: Tensor) -> Tensor:
    """Mean squared error per row, summed over the columns: (members,)."""
    return (reconstructed - x).square().sum(1).mean(-1)


def one_class_risk(distances: Tensor) -> Tensor:
    """Mean squared distance to the centre (one-class Deep SVDD)."""
    return distances.mean(-1)


def soft_boundary_risk(distances: Tensor, outside: float) -> Tensor:
    """Squared radius plus what lies beyond it (soft-boundary Deep SVDD).

    The radius leaves a share `outside` (nu) of the batch beyond it; it is set by that
    quantile and not trained.
    """
    radius = loss_quantile(distances, 1.0 - outside)  # squared, (members,)
    beyond = F.relu(distances - radius.unsqueeze(-1))
    return radius + beyond.mean(-1) / outside


def contrastive_risk(distances: Tensor, is_outlier: Tensor, level: Tensor) -> Tensor:
    """Logistic loss of telling answered inliers, the data, from outliers, the noise.

    The log-odds of being data are ``level - distance`` (noise-contrastive estimation with
    a density that falls with the distance). Both kinds count alike, however many there are.

    Parameters
    ----------
    distances : Tensor of shape (members, rows)
    is_outlier : Tensor of shape (rows,)
    level : Tensor of shape (members,)
    """
    odds = level.unsqueeze(-1) - distances
    data, noise = F.softplus(-odds), F.softplus(odds)
    outliers = is_outlier.to(odds)
    inliers = 1.0 - outliers
    data_risk = (data * inliers).sum(-1) / inliers.sum().clamp(min=1)
    noise_risk = (noise * outliers).sum(-1) / outliers.sum().clamp(min=1)
    return data_risk + noise_risk


def deep_sad_risk(distances: Tensor, labels: Tensor, weight: float) -> Tensor:
    """Mean distance, inverted for answered outliers (Deep SAD).

    Parameters
    ----------
    distances : Tensor of shape (members, rows)
    labels : Tensor of shape (rows,)
    weight : float
        eta, weight of the answered rows.
    """
    inverse = 1.0 / (distances + MIN_DISTANCE)
    terms = torch.where(labels == OUTLIER, inverse, distances)
    weights = torch.where(labels == UNLABELLED, 1.0, weight)
    return (terms * weights).mean(-1)


def reconstruction_steps(
    passes: Passes, n_rows: int, n_epochs: int, rng: np.random.Generator
) -> Iterator[Step[MLPAutoencoder]]:
    """Return the steps of the autoencoder's training."""

    def objective(model: MLPAutoencoder, x: Tensor, _: torch.Generator) -> Tensor:
        return reconstruction_risk(x, model.reconstruct(x))

    return pass_steps(passes, np.arange(n_rows), n_epochs, rng, lambda _: objective)


def svdd_steps(
    passes: Passes,
    rows: Rows,
    labels: Labels,
    n_epochs: int,
    rng: np.random.Generator,
    risk: Risk,
    contrastive_weight: float,
) -> Iterator[Step[Hypersphere]]:
    """Return the steps of Deep SVDD, with answers in a contrastive term where it has a weight.

    Answered outliers leave the rows that are drawn to the centre.
    """
    inliers, outliers = np.flatnonzero(labels == INLIER), np.flatnonzero(labels == OUTLIER)
    contrasts = contrastive_weight > 0 and len(inliers) + len(outliers) > 0

    def objective(model: Hypersphere, x: Tensor, _: torch.Generator) -> Tensor:
        total = risk(model.distances(x, batch_statistics=True))
        if contrasts:
            known = [draw_at_most(kind, passes.batch_size, rng) for kind in (inliers, outliers)]
            answered = rows.take(np.concatenate(known))
            is_outlier = torch.arange(answered.shape[-1], device=x.device) >= len(known[0])
            distances = model.distances(answered, batch_statistics=False)
            term = contrastive_risk(distances, is_outlier, model.level)
            total = total + contrastive_weight * term
        return total

    pool = np.flatnonzero(labels != OUTLIER)
    if len(pool) < 2:  # nothing to normalise a batch by
        pool = np.arange(len(labels))
    return pass_steps(passes, pool, n_epochs, rng, lambda _: objective)


def sad_steps(
    passes: Passes, labels: Labels, n_epochs: int, rng: np.random.Generator, weight: float
) -> Iterator[Step[Hypersphere]]:
    """Return the steps of Deep SAD: answered rows come in the batches like all others."""

    def objective_for(
        batch: NDArray[np.int64],
    ) -> Callable[[Hypersphere, Tensor, torch.Generator], Tensor]:
        known = torch.from_numpy(labels[batch])

        def objective(model: Hypersphere, x: Tensor, _: torch.Generator) -> Tensor:
            distances = model.distances(x, batch_statistics=True)
            return deep_sad_risk(distances, known.to(x.device), weight)

        return objective

    return pass_steps(passes, np.arange(len(labels)), n_epochs, rng, objective_for)
