"""Outliers of synthetic tables.

A kind of outlier is a function of a random source, the variables (tables, rows, variables), the
number of columns that the table shows (the first ones) and the share of outliers (tables, 1). It
returns the shown columns and which rows are outliers. A new kind is one function and one line in
`OUTLIER_KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from imboost.pretraining.random_source import RandomSource
from imboost.pretraining.structures import STRUCTURES

OutlierKind = Callable[[RandomSource, Tensor, int, Tensor], tuple[Tensor, Tensor]]

MIN_SHARE, MAX_SHARE = 0.005, 0.4  # of outliers in a table


def draw_share(source: RandomSource, n_tables: int) -> Tensor:
    """Draw the share of outliers of each table, low ones as often as high ones."""
    return source.log_between(MIN_SHARE, MAX_SHARE, n_tables, 1)


def rare_class(
    source: RandomSource, variables: Tensor, n_columns: int, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Take rows with extreme or particular values of a variable that may be hidden."""
    first, second = (_standardized(_one_of(source, variables)) for _ in range(2))
    target = first + source.normal(*share.shape) * source.events(0.5, *share.shape) * second
    rank = _ranks(target + 1e-4 * source.normal(*target.shape))
    end = source.events(0.5, *share.shape).float()
    anywhere = source.uniform(*share.shape)
    center = torch.where(source.events(0.6, *share.shape), end, anywhere)
    return variables[..., :n_columns], _nearest(rank - center, share)


def rare_region(
    source: RandomSource, variables: Tensor, n_columns: int, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Take the rows nearest to a point in the ranks of two variables."""
    distance = torch.zeros_like(variables[..., 0])
    for _ in range(2):
        rank = _ranks(_one_of(source, variables))
        distance = distance + (rank - source.uniform(*share.shape)).square()
    return variables[..., :n_columns], _nearest(distance, share)


def group(
    source: RandomSource, variables: Tensor, n_columns: int, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Move rows to clusters of their own."""
    columns = variables[..., :n_columns]
    n_tables, _, n = columns.shape
    n_groups = source.number(1, 3)
    centers = source.normal(n_tables, n_groups, n) * source.between(0.5, 3.0, n_tables, 1, 1)
    own = source.integers(n_groups, *columns.shape[:2], 1).expand(-1, -1, n)
    spread = source.between(0.1, 1.0, n_tables, 1, 1)
    moved = _standardized(columns) * spread + centers.gather(1, own)
    return _plant(source, columns, _in_units_of(columns, moved), share)


def broken_dependency(
    source: RandomSource, variables: Tensor, n_columns: int, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Replace values by those of other rows, which are usual in their column."""
    columns = variables[..., :n_columns]
    other = source.uniform(*columns.shape).argsort(1)
    return _plant(source, columns, columns.gather(1, other), share)


def far_values(
    source: RandomSource, variables: Tensor, n_columns: int, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Scale values away from the mean of their column and add noise."""
    columns = variables[..., :n_columns]
    n_tables = len(columns)
    factor = source.between(1.0, 5.0, n_tables, 1, 1)
    noise = source.between(0.0, 1.5, n_tables, 1, 1) * source.normal(*columns.shape)
    return _plant(
        source, columns, _in_units_of(columns, factor * _standardized(columns) + noise), share
    )


def uniform_values(
    source: RandomSource, variables: Tensor, n_columns: int, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Draw values uniformly from the range of their column."""
    columns = variables[..., :n_columns]
    low, high = columns.amin(1, keepdim=True), columns.amax(1, keepdim=True)
    return _plant(source, columns, low + (high - low) * source.uniform(*columns.shape), share)


def other_structure(
    source: RandomSource, variables: Tensor, n_columns: int, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Draw rows from another structure with similar means and deviations."""
    columns = variables[..., :n_columns]
    structure = source.choice(tuple(STRUCTURES.values()))
    drawn = _standardized(structure(source, *columns.shape))
    scale = source.between(0.4, 1.6, len(columns), 1, 1)
    return _plant(source, columns, _in_units_of(columns, scale * drawn), share)


OUTLIER_KINDS: dict[str, OutlierKind] = {
    "rare_class": rare_class,
    "rare_region": rare_region,
    "group": group,
    "broken_dependency": broken_dependency,
    "far_values": far_values,
    "uniform_values": uniform_values,
    "other_structure": other_structure,
}
"""Kinds of outliers by name."""


def _plant(
    source: RandomSource, columns: Tensor, replacement: Tensor, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Replace some cells of randomly drawn rows: the same columns in all of them, or others."""
    n_tables, n_rows, n = columns.shape
    is_outlier = _nearest(source.uniform(n_tables, n_rows), share)
    fraction = source.between(0.15, 1.0, n_tables, 1, 1)
    same = (source.uniform(n_tables, 1, n) < fraction).expand(-1, n_rows, -1)
    own = source.uniform(n_tables, n_rows, n) < fraction
    replaced = torch.where(source.events(0.5, n_tables, 1, 1), same, own)
    # An outlier without a replaced cell would be an inlier with a wrong label.
    replaced = replaced | (~replaced.any(-1, keepdim=True) & _random_cell(source, columns))
    return torch.where(is_outlier[..., None] & replaced, replacement, columns), is_outlier


def _random_cell(source: RandomSource, columns: Tensor) -> Tensor:
    draw = source.uniform(*columns.shape)
    return draw == draw.amax(-1, keepdim=True)


def _nearest(distance: Tensor, share: Tensor) -> Tensor:
    """Mark the rows with the smallest absolute distances: a share of each table, at least one."""
    n_rows = distance.shape[1]
    place = distance.abs().argsort(1).argsort(1)
    return place < (share * n_rows).ceil()


def _one_of(source: RandomSource, variables: Tensor) -> Tensor:
    """Return one variable (tables, rows) of each table."""
    n_tables, n_rows, n = variables.shape
    return variables.gather(2, source.integers(n, n_tables, 1, 1).expand(-1, n_rows, 1))[..., 0]


def _ranks(values: Tensor) -> Tensor:
    """Return the ranks of values within their table, from 0 to 1."""
    return values.argsort(1).argsort(1) / values.shape[1]


def _standardized(values: Tensor) -> Tensor:
    deviation = values.std(1, keepdim=True).clamp_min(1e-6)
    return (values - values.mean(1, keepdim=True)) / deviation


def _in_units_of(columns: Tensor, standardized: Tensor) -> Tensor:
    return columns.mean(1, keepdim=True) + columns.std(1, keepdim=True) * standardized
