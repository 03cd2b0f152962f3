"""Synthetic tables without outliers: how columns depend on each other, and what they look like.

A structure is a function of a random source, the numbers of tables, rows and variables. It
returns variables (tables, rows, variables), of which a table shows some and its classes may
depend on others. A new structure is one function and one line in `STRUCTURES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from imboost_bench.pretraining.random_source import RandomSource

Structure = Callable[[RandomSource, int, int, int], Tensor]

MAX_LEVELS = 12  # of a category; each becomes a number without order
INCOMPLETE_TABLES = 0.3  # tables with missing values
MAX_MISSING = 0.3  # largest share of missing values in a column
TREE_DEPTH = 4  # splits from the root to a leaf of a random tree
ACTIVATIONS: tuple[Callable[[Tensor], Tensor], ...] = (
    lambda x: x,
    torch.relu,
    torch.tanh,
    torch.sin,
    torch.abs,
    lambda x: torch.exp(-x.square()),
    lambda x: torch.floor(2 * x) / 2,
    lambda x: 0.7 * torch.sign(x) + 0.3 * x,
)


def draw_causes(source: RandomSource, n_tables: int, n_rows: int, n: int) -> Tensor:
    """Draw the variables that others depend on: one group, clusters, uniform or heavy-tailed."""
    shape = source.choice(("normal", "normal", "clusters", "clusters", "uniform", "heavy"))
    causes = source.normal(n_tables, n_rows, n)
    if shape == "clusters":
        centers, _ = _cluster_centers(source, n_tables, n_rows, n)
        causes = 2 * centers + causes * source.between(0.05, 1.2, n_tables, 1, 1)
    elif shape == "uniform":
        causes = source.between(-1.7, 1.7, n_tables, n_rows, n)
    elif shape == "heavy":
        causes = causes * torch.exp(0.7 * source.normal(n_tables, n_rows, 1))
    # Real tables depend on few causes: the others are 0, as many as each table draws.
    rank = source.between(2, n + 1, n_tables, 1, 1).floor()
    return causes * (torch.arange(n, device=source.device) < rank)


def structural_network(source: RandomSource, n_tables: int, n_rows: int, n: int) -> Tensor:
    """Draw structural equations: layers of variables, each a noisy function of a few others."""
    width, n_layers = source.choice((12, 20, 32)), source.number(1, 4)
    values = draw_causes(source, n_tables, n_rows, width)
    layers: list[Tensor] = []
    while len(layers) < n_layers or width * len(layers) < n:
        density = source.between(0.2, 1.0, n_tables, 1, 1)
        parents = source.uniform(n_tables, width, width) < density
        gain = source.between(0.5, 2.5, n_tables, 1, 1) / (density * width).sqrt()
        weights = source.normal(n_tables, width, width) * parents * gain
        values = values @ weights + 0.7 * source.normal(n_tables, 1, width)
        first, second = source.choice(ACTIVATIONS), source.choice(ACTIVATIONS)
        values = torch.where(source.events(0.5, n_tables, 1, width), first(values), second(values))
        noise = source.log_between(1e-3, 0.3, n_tables, 1, width)
        values = values + noise * source.normal(*values.shape)
        layers.append(values)
    variables = torch.cat(layers, -1)
    chosen = source.uniform(n_tables, variables.shape[-1]).argsort(1)[:, None, :n]
    return variables.gather(2, chosen.expand(-1, n_rows, -1))


def trees(source: RandomSource, n_tables: int, n_rows: int, n: int) -> Tensor:
    """Draw sums of a few random decision trees of common causes."""
    n_trees = source.number(1, 4)
    causes = draw_causes(source, n_tables, n_rows, n)
    values = torch.zeros_like(causes)
    for _ in range(n_trees):
        leaf = torch.zeros(n_tables, n_rows, n, dtype=torch.long, device=source.device)
        for _ in range(TREE_DEPTH):
            split = source.integers(n, n_tables, 1, n).expand(-1, n_rows, -1)
            right = causes.gather(2, split) > 0.7 * source.normal(n_tables, 1, n)
            leaf = 2 * leaf + right
        leaves = source.normal(n_tables, 2**TREE_DEPTH, n)
        values = values + leaves.gather(1, leaf)
    noise = source.log_between(1e-2, 0.5, n_tables, 1, n)
    values = values / math.sqrt(n_trees) + noise * source.normal(*values.shape)
    return torch.where(source.events(0.3, n_tables, 1, n), causes, values)


def mixture(source: RandomSource, n_tables: int, n_rows: int, n: int) -> Tensor:
    """Draw Gaussian clusters, each with its own covariance of low rank."""
    rank = source.number(1, 6)
    values, cluster = _cluster_centers(source, n_tables, n_rows, n)
    values = values * source.between(0.0, 2.0, n_tables, 1, 1)
    loadings = source.normal(n_tables, MAX_CLUSTERS, rank * n) / math.sqrt(rank)
    own = loadings.gather(1, cluster.expand(-1, -1, rank * n)).view(n_tables, n_rows, rank, n)
    factors = source.normal(n_tables, n_rows, 1, rank)
    noise = source.log_between(0.02, 0.5, n_tables, 1, n)
    return values + (factors @ own)[:, :, 0] + noise * source.normal(n_tables, n_rows, n)


STRUCTURES: dict[str, Structure] = {
    "structural_network": structural_network,
    "trees": trees,
    "mixture": mixture,
}
"""Structures by name."""

MAX_CLUSTERS = 8


def _cluster_centers(
    source: RandomSource, n_tables: int, n_rows: int, n: int
) -> tuple[Tensor, Tensor]:
    """Return the center (tables, rows, n) of each row's cluster and its number."""
    n_clusters = source.number(2, MAX_CLUSTERS)
    sizes = 1.2 * source.normal(n_tables, 1, n_clusters)
    cluster = (sizes + source.gumbel(n_tables, n_rows, n_clusters)).argmax(-1, keepdim=True)
    centers = source.normal(n_tables, n_clusters, n)
    return centers.gather(1, cluster.expand(-1, -1, n)), cluster


def write_columns(source: RandomSource, variables: Tensor) -> Tensor:
    """Return the columns (tables, rows, columns) as a user would have them, nan where missing."""
    n_tables, _, n = variables.shape
    deviation = variables.std(1, keepdim=True).clamp_min(1e-6)
    values = (variables - variables.mean(1, keepdim=True)) / deviation
    kind = source.uniform(n_tables, 1, n)
    power = source.between(0.4, 2.4, n_tables, 1, n)
    steps = source.between(0.5, 4.0, n_tables, 1, n)
    cut = 0.8 * source.normal(n_tables, 1, n)
    # Each kind takes its share of the columns, from below; the rest stays as it is.
    written = torch.where(kind < 0.5, _categories(source, values), values)
    written = torch.where(kind < 0.43, (values > cut).float(), written)
    written = torch.where(kind < 0.35, torch.round(values * steps), written)
    written = torch.where(kind < 0.2, values.sign() * values.abs() ** power, written)
    written = torch.where(kind < 0.12, torch.exp((1.2 * values).clamp(-8, 8)), written)
    # Some tables have missing values, each column with its own share.
    share = source.uniform(n_tables, 1, n) * source.between(0.0, MAX_MISSING, n_tables, 1, 1)
    share = share * source.events(INCOMPLETE_TABLES, n_tables, 1, 1)
    return written.masked_fill(source.uniform(*written.shape) < share, torch.nan)


def _categories(source: RandomSource, values: Tensor) -> Tensor:
    """Cut values into intervals and give each a random number."""
    n_tables, _, n = values.shape
    levels = source.between(3, MAX_LEVELS + 1, n_tables, 1, n).floor()
    level = (torch.sigmoid(1.7 * values) * levels).floor().clamp(0, MAX_LEVELS - 1).long()
    return source.normal(n_tables, MAX_LEVELS, n).gather(1, level)
