"""Risks and training steps of Deep SVDD and Deep SAD."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from imboost.arrays import Indices
from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels
from imboost.training.batches import draw_at_most
from imboost.training.loop import Inputs, Objective, Step
from imboost.training.scaled_rows import ScaledRows
from imboost.training.warmup import loss_quantile
from imboost_bench.baselines.hypersphere import Hypersphere, MLPAutoencoder

MIN_DISTANCE = 1e-6
"""Added to squared distances before inverting them."""

Model = TypeVar("Model")
Risk = Callable[[Tensor], Tensor]
"""Computes a risk (members,) from squared distances (members, rows)."""


@dataclass(frozen=True)
class MiniBatches:
    """Mini-batches of full passes over the rows, at most `max_batches` per pass."""

    batch_size: int = 128
    max_batches: int = 100

    def split(self, pool: Indices, rng: np.random.Generator) -> list[Indices]:
        """Shuffle `pool` and split it into batches of nearly equal size.

        >>> rng = np.random.default_rng(0)
        >>> [len(batch) for batch in MiniBatches(batch_size=4).split(np.arange(10), rng)]
        [4, 3, 3]
        >>> [len(batch) for batch in MiniBatches(4, max_batches=2).split(np.arange(10), rng)]
        [5, 5]
        """
        n_batches = min(math.ceil(len(pool) / self.batch_size), self.max_batches)
        return np.array_split(rng.permutation(pool), n_batches)

    def steps(
        self, pool: Indices, n_epochs: int, rng: np.random.Generator, objective: Objective[Model]
    ) -> Iterator[Step[Model]]:
        """Yield the steps of epochs that are full passes over the rows of `pool`."""
        for epoch in range(n_epochs):
            batches = self.split(pool, rng)
            for number, rows in enumerate(batches, start=1):
                yield Step(rows, objective, epoch, number == len(batches))


def one_class_risk(distances: Tensor) -> Tensor:
    """Mean squared distance to the centre (one-class Deep SVDD)."""
    return distances.mean(-1)


def soft_boundary_risk(distances: Tensor, outside: float) -> Tensor:
    """Squared radius plus the mean excess over it, divided by nu (soft-boundary Deep SVDD).

    The squared radius is the quantile that a fraction `outside` (nu) of the batch exceeds. It is
    not trained.
    """
    radius = loss_quantile(distances, 1.0 - outside)  # squared, (members,)
    beyond = F.relu(distances - radius.unsqueeze(-1))
    return radius + beyond.mean(-1) / outside


def contrastive_risk(distances: Tensor, is_outlier: Tensor, bias: Tensor) -> Tensor:
    """Noise-contrastive logistic loss: labelled inliers are the data, labelled outliers the noise.

    The log-odds of being data are ``bias - distance`` (noise-contrastive estimation
    with a density that decreases with the distance). Both classes have the same weight.
    `distances` is (members, rows), `is_outlier` (rows,) and `bias` (members,).
    """
    log_odds = bias.unsqueeze(-1) - distances
    data, noise = F.softplus(-log_odds), F.softplus(log_odds)
    outliers = is_outlier.to(log_odds)
    inliers = 1.0 - outliers
    data_risk = (data * inliers).sum(-1) / inliers.sum().clamp(min=1)
    noise_risk = (noise * outliers).sum(-1) / outliers.sum().clamp(min=1)
    return data_risk + noise_risk


def deep_sad_risk(distances: Tensor, labels: Tensor, weight: float) -> Tensor:
    """Mean squared distance, inverted for labelled outliers; labelled rows have `weight` eta."""
    inverse = 1.0 / (distances + MIN_DISTANCE)
    terms = torch.where(labels == OUTLIER, inverse, distances)
    weights = torch.where(labels == UNLABELLED, 1.0, weight)
    return (terms * weights).mean(-1)


def reconstruction_steps(
    mini_batches: MiniBatches, n_rows: int, n_epochs: int, rng: np.random.Generator
) -> Iterator[Step[MLPAutoencoder]]:
    """Return the steps of the autoencoder's pre-training, on the squared reconstruction error."""

    def risk(model: MLPAutoencoder, x: Tensor) -> Tensor:
        return (model.reconstruct(x) - x).square().sum(1).mean(-1)

    objective: Objective[MLPAutoencoder] = Objective(lambda *_: (), risk)
    return mini_batches.steps(np.arange(n_rows), n_epochs, rng, objective)


def svdd_steps(
    mini_batches: MiniBatches,
    rows: ScaledRows,
    labels: Labels,
    n_epochs: int,
    rng: np.random.Generator,
    risk: Risk,
    contrastive_weight: float,
) -> Iterator[Step[Hypersphere]]:
    """Return the steps of Deep SVDD, with labels in a noise-contrastive term if it has a weight.

    Labelled outliers are not in the rows that are pulled towards the centre.
    """
    inliers, outliers = np.flatnonzero(labels == INLIER), np.flatnonzero(labels == OUTLIER)
    contrasts = contrastive_weight > 0 and len(inliers) + len(outliers) > 0

    def draw(_: Hypersphere, __: Indices, ___: torch.Generator) -> Inputs:
        if not contrasts:
            return ()
        size = mini_batches.batch_size
        known = [draw_at_most(kind, size, rng) for kind in (inliers, outliers)]
        return (torch.from_numpy(np.concatenate(known)),)

    def total_risk(model: Hypersphere, x: Tensor, *labelled: Tensor) -> Tensor:
        total = risk(model.distances(x, batch_statistics=True))
        for index in labelled:  # inliers first
            n_inliers = min(len(inliers), mini_batches.batch_size)
            is_outlier = torch.arange(len(index), device=x.device) >= n_inliers
            distances = model.distances(rows.take(index), batch_statistics=False)
            term = contrastive_risk(distances, is_outlier, model.bias)
            total = total + contrastive_weight * term
        return total

    pool = np.flatnonzero(labels != OUTLIER)
    if len(pool) < 2:  # batch normalisation needs two rows
        pool = np.arange(len(labels))
    objective = Objective(draw, total_risk)
    return mini_batches.steps(pool, n_epochs, rng, objective)


def sad_steps(
    mini_batches: MiniBatches,
    labels: Labels,
    n_epochs: int,
    rng: np.random.Generator,
    weight: float,
) -> Iterator[Step[Hypersphere]]:
    """Return the steps of Deep SAD on mini-batches of all rows, labelled or not."""

    def draw(_: Hypersphere, batch: Indices, __: torch.Generator) -> Inputs:
        return (torch.from_numpy(labels[batch]),)

    def risk(model: Hypersphere, x: Tensor, known: Tensor) -> Tensor:
        return deep_sad_risk(model.distances(x, batch_statistics=True), known, weight)

    objective = Objective(draw, risk)
    return mini_batches.steps(np.arange(len(labels)), n_epochs, rng, objective)
