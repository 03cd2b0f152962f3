"""Decomposition of a row's loss by cell, and the mean of each cell given the others."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from imboost.arrays import Floats, Indices
from imboost.models.mlp_vae import MLPVAE
from imboost.training.scaled_rows import ScaledRows

PRECISION = torch.float64


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
    each column's input column, from 0.

    Returns
    -------
    array of shape (n_rows, n_columns)
        Means of scaled numbers; probabilities of missing-value indicators and of categories.
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
