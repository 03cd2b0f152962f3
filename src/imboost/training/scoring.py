"""Losses of all rows of a table and of their cells, and averages over epochs (eq. 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch
from torch import Tensor

from imboost.arrays import Floats, Indices
from imboost.models.backbone import Backbone
from imboost.models.bounds import iwae
from imboost.models.mlp_vae import MLPVAE
from imboost.training.loop import Step
from imboost.training.scaled_rows import ScaledRows

PRECISION = torch.float64  # of the losses of cells


@torch.inference_mode()
def member_losses(
    model: Backbone, rows: ScaledRows, noise: Tensor, dtype: torch.dtype = torch.float32
) -> Iterator[Tensor]:
    """Yield the members' losses of the rows, chunk by chunk: (members, rows).

    All rows share the noise of one row, so that no score depends on other rows.
    """
    noise = noise.to(rows.device, dtype)
    for _, x in rows.chunks(model.n_members * noise.shape[2], dtype):
        yield -iwae(model.log_weights(x, noise, batch_statistics=False))


def mean_losses(
    model: Backbone, rows: ScaledRows, noise: Tensor, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Return the loss of every row, averaged over the members, in single precision."""
    chunks = member_losses(model, rows, noise, dtype)
    return torch.cat([chunk.mean(0).float() for chunk in chunks])


def ensembled_loss(
    model: Backbone,
    rows: ScaledRows,
    steps: Iterable[Step[Backbone]],
    epochs: range,
    generator: torch.Generator,
    n_samples: int,
) -> Floats:
    """Return the loss of every row, averaged over `epochs` of the training (eq. 6).

    `steps` trains the model: each step comes after its update.
    """
    total = torch.zeros(len(rows), device=rows.device)
    for step in steps:
        if step.ends_epoch and step.epoch in epochs:
            total += mean_losses(model, rows, model.draw_noise(1, generator, n_samples))
    return np.asarray(total.cpu().numpy().astype(np.float64) / len(epochs))


@torch.inference_mode()
def cell_losses(model: MLPVAE, rows: ScaledRows, noise: Tensor) -> Floats:
    r"""Return the contribution of every cell to the loss of its row, averaged over members.

    With the normalised weights :math:`\bar w_k = w_k / \sum_l w_l` of the samples, a loss is

    .. math::
        -\log \frac{1}{K} \sum_k w_k = -\sum_j \sum_k \bar w_k \log p(x_j \mid z_k)
        - \sum_k \bar w_k \log \frac{p(z_k)}{q(z_k \mid x)} + \sum_k \bar w_k \log K \bar w_k

    The terms of the first sum, one per cell j, are returned as (rows, columns), 0 for a missing
    value; the other terms belong to the latent code.
    """
    noise = noise.to(rows.device, PRECISION)
    losses = []
    for _, x in rows.chunks(model.n_members * noise.shape[2], PRECISION):
        cells, code, _ = model.weight_parts(x, x, noise, batch_statistics=False)
        weights = torch.softmax(cells.sum(1) + code, dim=1)  # (members, samples, rows)
        losses.append(-_weighted(cells, weights))
    return _as_table(losses)


@torch.inference_mode()
def conditional_means(model: MLPVAE, rows: ScaledRows, noise: Tensor, sources: Indices) -> Floats:
    """Return the mean of every cell given the other cells of its row.

    All columns that encode one input column are hidden together, from the encoder and from the
    weights: a model that sees an unusual value may reproduce it. `sources` holds the number of
    each column's input column, from 0. The means (rows, columns) of missing-value indicators and
    categories are probabilities.
    """
    noise = noise.to(rows.device, PRECISION)
    groups = [torch.from_numpy(sources == source) for source in range(sources.max() + 1)]
    expected = []
    for _, x in rows.chunks(model.n_members * noise.shape[2], PRECISION):
        means = torch.empty_like(x)
        for group in groups:
            own = group.to(rows.device)
            seen = x.masked_fill(own.unsqueeze(1), torch.nan)
            cells, code, output = model.weight_parts(x, seen, noise, batch_statistics=False)
            weights = torch.softmax(cells[:, ~own].sum(1) + code, dim=1)
            means[own] = _weighted(model.log_density.expected(output)[:, own], weights)
        expected.append(means)
    return _as_table(expected)


def _weighted(values: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted mean over samples, averaged over members: (features, rows)."""
    return (values * weights.unsqueeze(1)).sum(2).mean(0)


def _as_table(chunks: list[Tensor]) -> Floats:
    return np.asarray(torch.cat(chunks, dim=1).t().cpu().numpy())
