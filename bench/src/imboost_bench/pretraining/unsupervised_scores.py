"""Unsupervised outlier scores of many small tables at once, on one device.

They stand for the scores of `Stack`, in the same order: isolation forest, mean distance to the
nearest neighbours, PCA reconstruction error, local outlier factor.
"""

from __future__ import annotations

import torch
from torch import Tensor

from imboost.models.in_context import SCORES
from imboost_bench.pretraining.random_source import RandomSource

N_TREES, TREE_DEPTH = 32, 8  # of the isolation forest
MAX_NEIGHBORS = 80
EXACT = "donot_use_mm_for_euclid_dist"  # matrix products round distances of equal rows above 0
MIN_DISTANCE = 1e-3  # so that rows with equal neighbours have finite logarithms


def score_tables(source: RandomSource, rows: Tensor, n_context: int) -> Tensor:
    """Return scores (tables, rows, scores) by the context rows, which come first.

    `rows` (tables, rows, columns) are scaled columns without gaps.
    """
    n_neighbors = min(source.choice((5, 10, 20, 40, MAX_NEIGHBORS)), n_context - 2)
    knn, lof = _neighbor_scores(rows, n_context, n_neighbors)
    found = {
        "isolation_forest": _isolation(source, rows, n_context),
        "knn": knn,
        "pca": _pca_error(source, rows, n_context),
        "lof": lof,
    }
    return torch.stack([found[name] for name in SCORES], -1)


def _neighbor_scores(rows: Tensor, n_context: int, k: int) -> tuple[Tensor, Tensor]:
    """Return log mean distances to k neighbours, and these minus those of the neighbours."""
    distances = torch.cdist(rows, rows[:, :n_context], compute_mode=EXACT)
    own = torch.arange(n_context, device=rows.device)
    distances[:, own, own] = torch.inf  # a row is no neighbour of itself
    nearest = distances.topk(k, largest=False)
    knn = (nearest.values.mean(-1) + MIN_DISTANCE).log()
    neighbors = nearest.indices.flatten(1)
    of_neighbors = knn.gather(1, neighbors).view(nearest.indices.shape).mean(-1)
    return knn, knn - of_neighbors


def _pca_error(source: RandomSource, rows: Tensor, n_context: int) -> Tensor:
    """Return the log distance to a subspace of principal components."""
    context = rows[:, :n_context]
    centered = rows - context.mean(1, keepdim=True)
    covariance = centered[:, :n_context].mT @ centered[:, :n_context] / n_context
    n = covariance.shape[-1]
    ridge = 1e-4 * torch.eye(n, device=rows.device)
    components = torch.linalg.eigh(covariance + ridge).eigenvectors  # in ascending order
    n_left_out = source.number(1, max(1, n - 1))
    error: Tensor = (centered @ components[..., :n_left_out]).square().mean(-1)
    return (error + MIN_DISTANCE**2).log()


def _isolation(source: RandomSource, rows: Tensor, n_context: int) -> Tensor:
    """Return the negative mean path length in trees that split at random."""
    n_tables, n_rows, n_columns = rows.shape
    node = torch.zeros(n_tables, n_rows, N_TREES, dtype=torch.long, device=rows.device)
    length = torch.zeros_like(node, dtype=rows.dtype)
    for depth in range(TREE_DEPTH):
        n_nodes = 2**depth
        column = source.integers(n_columns, n_tables, n_nodes, N_TREES).gather(1, node)
        value = rows.gather(2, column)
        own, known = node[:, :n_context], value[:, :n_context]
        empty = rows.new_zeros(n_tables, n_nodes, N_TREES)
        low = empty.scatter_reduce(1, own, known, "amin", include_self=False).gather(1, node)
        high = empty.scatter_reduce(1, own, known, "amax", include_self=False).gather(1, node)
        count = empty.scatter_add(1, own, torch.ones_like(known)).gather(1, node)
        length = length + (count > 1)
        cut = low + (high - low) * source.uniform(n_tables, n_nodes, N_TREES).gather(1, node)
        node = 2 * node + (value > cut)
    empty = rows.new_zeros(n_tables, 2**TREE_DEPTH, N_TREES)
    own = node[:, :n_context]
    count = empty.scatter_add(1, own, torch.ones_like(own, dtype=rows.dtype)).gather(1, node)
    return -(length + count.clamp_min(1).log2()).mean(-1)
