"""Columns of synthetic tables: skewed, rounded, binary and categorical ones, missing values."""

from __future__ import annotations

import torch
from torch import Tensor

from imboost_bench.pretraining.random_source import RandomSource

MAX_LEVELS = 12  # of a category; each becomes a number without order
INCOMPLETE_TABLES = 0.3  # tables with missing values
MAX_MISSING = 0.3  # largest share of missing values in a column


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
