"""What each cell of a row adds to its loss, and what is expected of it."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imboost.models.backbone import CellBackbone
from imboost.training.rows import Rows

PRECISION = torch.float64


@torch.inference_mode()
def cell_losses(model: CellBackbone, rows: Rows, noise: Tensor) -> NDArray[np.float64]:
    r"""Return what every cell adds to the loss of its row, averaged over members.

    With the normalised weights :math:`\bar w_k = w_k / \sum_l w_l` of the samples, a loss is

    .. math::
        -\log \frac{1}{K} \sum_k w_k = -\sum_j \sum_k \bar w_k \log p(x_j \mid z_k)
        - \sum_k \bar w_k \log \frac{p(z_k)}{q(z_k \mid x)} + \sum_k \bar w_k \log K \bar w_k

    The first sum is over cells, and its terms are returned; the others are the code's.

    Parameters
    ----------
    model : CellBackbone
    rows : Rows
    noise : Tensor
        That of the scores.

    Returns
    -------
    array of shape (n_rows, n_columns)
        0 for a missing number.
    """
    noise = noise.to(rows.device, PRECISION)
    losses = []
    for _, x in rows.chunks(_n_copies(model, noise), PRECISION):
        cells, code, _ = model.weight_parts(x, x, noise, batch_statistics=False)
        weights = torch.softmax(cells.sum(1) + code, dim=1)  # (members, samples, rows)
        losses.append(-_weighted(cells, weights))
    return _as_table(losses)


@torch.inference_mode()
def expected_cells(
    model: CellBackbone, rows: Rows, noise: Tensor, owners: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return what is expected of every cell, given the other cells of its row.

    Columns of one owner are left out together, by encoder and weights: a model that sees an odd
    cell may copy it.

    Parameters
    ----------
    model, rows, noise
        As in `cell_losses`.
    owners : array of shape (n_columns,)
        Which columns belong together: 0, 1 and so on.

    Returns
    -------
    array of shape (n_rows, n_columns)
        Means of numbers in the unit interval, probabilities of gaps and of levels.
    """
    noise = noise.to(rows.device, PRECISION)
    groups = [torch.from_numpy(owners == owner) for owner in range(owners.max() + 1)]
    expected = []
    for _, x in rows.chunks(_n_copies(model, noise), PRECISION):
        means = torch.empty_like(x)
        for group in groups:
            own = group.to(rows.device)
            seen = x.masked_fill(own.unsqueeze(1), torch.nan)
            cells, code, output = model.weight_parts(x, seen, noise, batch_statistics=False)
            weights = torch.softmax(cells[:, ~own].sum(1) + code, dim=1)
            means[own] = _weighted(model.log_density.expected(output)[:, own], weights)
        expected.append(means)
    return _as_table(expected)


def _n_copies(model: CellBackbone, noise: Tensor) -> int:
    return model.n_members * noise.shape[2]


def _weighted(values: Tensor, weights: Tensor) -> Tensor:
    """Return means over samples by weight, and over members: (features, rows)."""
    return (values * weights.unsqueeze(1)).sum(2).mean(0)


def _as_table(chunks: list[Tensor]) -> NDArray[np.float64]:
    return np.asarray(torch.cat(chunks, dim=1).t().cpu().numpy())
