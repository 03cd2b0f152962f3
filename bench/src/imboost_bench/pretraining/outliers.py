"""Outliers of synthetic tables.

A kind of outlier is a function and one line in `OUTLIER_KINDS`. It either ranks the rows, so that
the lowest ones are a class whose members are outliers, or replaces cells of random rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from imboost_bench.pretraining.random_source import RandomSource
from imboost_bench.pretraining.structures import STRUCTURES
from imboost_bench.pretraining.unsupervised_scores import EXACT

MIN_SHARE, MAX_SHARE = 0.005, 0.4  # of outliers in a table
SPARE_ROWS = 1.75  # rows of the variables by those of a table; the others are left out
MARGINS = 0.6  # tables with a margin between the classes
OVERLAPS, MAX_OVERLAP = 0.3, 0.1  # tables with overlapping classes, and their largest noise
HIDDEN_CLASSES = 0.4  # tables whose class depends on variables that they do not show
MAX_CLASS_VARIABLES, MAX_REGION_VARIABLES, MAX_CONDITIONS = 6, 16, 3  # that a class depends on
MAX_PREFERENCE = 12.0  # log-odds of the farthest row against the nearest one to be a center
MAX_CENTERS = (3, 8)  # of outliers and of inliers, in a partition by nearest centers


def draw_share(source: RandomSource, n_tables: int) -> Tensor:
    """Draw the share of outliers of each table, low ones as often as high ones."""
    return source.log_between(MIN_SHARE, MAX_SHARE, n_tables, 1)


# Classes: the distance (tables, rows) of rows by variables (tables, rows, variables).


def rare_class(source: RandomSource, variables: Tensor) -> Tensor:
    """Rows with extreme or particular values of a sum of variables."""
    standard = _standardized(variables)
    is_part = _some_variables(source, standard, MAX_CLASS_VARIABLES)
    n_tables = len(variables)
    weights = source.normal(n_tables, 1, standard.shape[-1]) * is_part
    target = (standard * weights).sum(-1)
    noise = 1e-4 * target.std(1, keepdim=True) * source.normal(*target.shape)  # breaks ties
    rank = _relative_ranks(target + noise)
    end = source.events(0.5, n_tables, 1).float()
    anywhere = source.uniform(n_tables, 1)
    center = torch.where(source.events(0.7, n_tables, 1), end, anywhere)
    return (rank - center).abs()


def rare_region(source: RandomSource, variables: Tensor) -> Tensor:
    """Rows nearest to one of them, by a few variables."""
    standard = _standardized(variables)
    used = standard * _some_variables(source, standard, MAX_REGION_VARIABLES)
    preference = source.between(0.0, MAX_PREFERENCE, len(used), 1)
    return _distance_to_rows(source, used, 1, preference)


def nearest_centers(source: RandomSource, variables: Tensor) -> Tensor:
    """Rows whose nearest center belongs to the outliers: one of many classes."""
    standard = _standardized(variables)
    used = standard * _some_variables(source, standard, MAX_REGION_VARIABLES)
    preference = source.between(0.0, MAX_PREFERENCE, len(used), 1)
    n_own, n_others = (source.number(1, most) for most in MAX_CENTERS)
    own = _distance_to_rows(source, used, n_own, preference)
    return own - _distance_to_rows(source, used, n_others, torch.zeros_like(preference))


def rules(source: RandomSource, variables: Tensor) -> Tensor:
    """Rows that meet all conditions of a rule: low or high values of a few variables."""
    noise = 1e-4 * source.normal(*variables.shape)  # breaks ties
    rank = _relative_ranks(_standardized(variables) + noise)
    distances = []
    for _ in range(source.number(1, 2)):  # rules, of which one has to be met
        is_low = source.events(0.5, len(variables), 1, rank.shape[-1])
        violation = torch.where(is_low, rank, 1 - rank)
        is_part = _some_variables(source, variables, MAX_CONDITIONS)
        distances.append(violation.masked_fill(~is_part, 0.0).amax(-1))
    return torch.stack(distances).amin(0)


# Replacements of the cells of a table: columns (tables, rows, columns) of the same shape.


def group(source: RandomSource, columns: Tensor) -> Tensor:
    """Rows of clusters of their own."""
    n_tables, _, n = columns.shape
    n_groups = source.number(1, 3)
    centers = source.normal(n_tables, n_groups, n) * source.between(0.5, 3.0, n_tables, 1, 1)
    own = source.integers(n_groups, *columns.shape[:2], 1).expand(-1, -1, n)
    spread = source.between(0.1, 1.0, n_tables, 1, 1)
    moved = _standardized(columns) * spread + centers.gather(1, own)
    return _in_units_of(columns, moved)


def broken_dependency(source: RandomSource, columns: Tensor) -> Tensor:
    """Values of other rows, which are typical of their column."""
    return columns.gather(1, source.uniform(*columns.shape).argsort(1))


def far_values(source: RandomSource, columns: Tensor) -> Tensor:
    """Values scaled away from the mean of their column, with noise."""
    n_tables = len(columns)
    factor = source.between(1.0, 5.0, n_tables, 1, 1)
    noise = source.between(0.0, 1.5, n_tables, 1, 1) * source.normal(*columns.shape)
    return _in_units_of(columns, factor * _standardized(columns) + noise)


def uniform_values(source: RandomSource, columns: Tensor) -> Tensor:
    """Values drawn uniformly from the range of their column."""
    low, high = columns.amin(1, keepdim=True), columns.amax(1, keepdim=True)
    return low + (high - low) * source.uniform(*columns.shape)


def other_structure(source: RandomSource, columns: Tensor) -> Tensor:
    """Rows from another structure with similar means and deviations."""
    structure = source.choice(tuple(STRUCTURES.values()))
    drawn = _standardized(structure(source, *columns.shape))
    scale = source.between(0.4, 1.6, len(columns), 1, 1)
    return _in_units_of(columns, scale * drawn)


@dataclass(frozen=True)
class OutlierKind:
    """A function above, whether its outliers are a class, and how often it is drawn."""

    make: Callable[[RandomSource, Tensor], Tensor]
    is_class: bool = False
    weight: int = 1

    def draw(
        self, source: RandomSource, variables: Tensor, shape: tuple[int, int], share: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the cells of tables and which of their rows are outliers.

        Tables show `shape`, the first rows and columns of `variables` (tables, rows, variables).
        `share` (tables, 1) is that of outliers.
        """
        n_rows, n_columns = shape
        if not self.is_class:
            columns = variables[:, :n_rows, :n_columns]
            return _plant(source, columns, self.make(source, columns), share)
        is_shown = torch.arange(variables.shape[-1], device=variables.device) < n_columns
        depends_on_hidden = source.events(HIDDEN_CLASSES, len(variables), 1, 1)
        distance = self.make(source, variables * (is_shown | depends_on_hidden))
        return _separate(source, variables, shape, distance, share)


OUTLIER_KINDS = {  # most outliers of real tables are a class
    "rare_class": OutlierKind(rare_class, is_class=True, weight=4),
    "rare_region": OutlierKind(rare_region, is_class=True, weight=2),
    "nearest_centers": OutlierKind(nearest_centers, is_class=True, weight=4),
    "rules": OutlierKind(rules, is_class=True, weight=3),
    "group": OutlierKind(group, weight=2),
    "broken_dependency": OutlierKind(broken_dependency),
    "far_values": OutlierKind(far_values),
    "uniform_values": OutlierKind(uniform_values),
    "other_structure": OutlierKind(other_structure),
}
"""Kinds of outliers by name."""


def draw_kind(source: RandomSource) -> OutlierKind:
    """Draw a kind of outlier."""
    return source.choice([own for own in OUTLIER_KINDS.values() for _ in range(own.weight)])


def _plant(
    source: RandomSource, columns: Tensor, replacement: Tensor, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Replace some cells of randomly drawn rows: the same columns in all of them, or others."""
    n_tables, n_rows, n = columns.shape
    is_outlier = _ordinal_ranks(source.uniform(n_tables, n_rows)) < (share * n_rows).ceil()
    fraction = source.between(0.15, 1.0, n_tables, 1, 1)
    same = (source.uniform(n_tables, 1, n) < fraction).expand(-1, n_rows, -1)
    own = source.uniform(n_tables, n_rows, n) < fraction
    replaced = torch.where(source.events(0.5, n_tables, 1, 1), same, own)
    # An outlier without a replaced cell would be an inlier with a wrong label.
    draw = source.uniform(*columns.shape)
    is_random_cell = draw == draw.amax(-1, keepdim=True)
    replaced = replaced | (~replaced.any(-1, keepdim=True) & is_random_cell)
    return torch.where(is_outlier[..., None] & replaced, replacement, columns), is_outlier


def _separate(
    source: RandomSource,
    variables: Tensor,
    shape: tuple[int, int],
    distance: Tensor,
    share: Tensor,
) -> tuple[Tensor, Tensor]:
    """Take the rows with the smallest distances as a class, and downsample it to the outliers.

    Many benchmark data sets are made this way. In some tables the classes overlap; in others, the
    inliers next to the outliers are left out.
    """
    n_tables, n_all, _ = variables.shape
    n_rows, n_columns = shape
    noise = source.between(0.0, MAX_OVERLAP, n_tables, 1) * source.events(OVERLAPS, n_tables, 1)
    rank = _ordinal_ranks(_relative_ranks(distance) + noise * source.normal(n_tables, n_all))
    n_outliers = (share * n_rows).ceil()
    n_spare = n_all - n_rows  # rows of both classes that are left out
    n_class = n_outliers * ((n_outliers + n_spare) / n_outliers) ** source.uniform(n_tables, 1)
    n_class = n_class.floor().clamp_min(n_outliers)
    is_class = rank < n_class
    at_random = source.uniform(n_tables, n_all)
    is_outlier = _ordinal_ranks(at_random.masked_fill(~is_class, torch.inf)) < n_outliers
    margin = source.uniform(n_tables, 1) * source.events(MARGINS, n_tables, 1)
    is_margin = rank < n_class + margin * (n_spare - n_class + n_outliers)
    # Inliers are drawn from the rows outside the class and the margin: there are always enough.
    order = at_random + is_margin + 2 * is_class.float()
    is_kept = is_outlier | (_ordinal_ranks(order) < n_rows - n_outliers)
    kept = is_kept.int().argsort(dim=1, descending=True, stable=True)[:, :n_rows]
    columns = variables[..., :n_columns].gather(1, kept[..., None].expand(-1, -1, n_columns))
    return columns, is_outlier.gather(1, kept)


def _distance_to_rows(source: RandomSource, rows: Tensor, n: int, preference: Tensor) -> Tensor:
    """Return the distance (tables, rows) to the nearest of n random rows.

    The larger the `preference` (tables, 1), the more often these are rows far from the mean.
    """
    far = preference * _relative_ranks(rows.square().sum(-1))
    chosen = (far + source.gumbel(*far.shape)).topk(n).indices[..., None]
    centers = rows.gather(1, chosen.expand(-1, -1, rows.shape[-1]))
    return torch.cdist(rows, centers, compute_mode=EXACT).amin(-1)


def _some_variables(source: RandomSource, variables: Tensor, most: int) -> Tensor:
    """Mark some of the variables (tables, 1, variables) that differ between rows."""
    n_tables, _, n = variables.shape
    differs = variables.amax(1, keepdim=True) > variables.amin(1, keepdim=True)
    order = (source.uniform(n_tables, 1, n) + differs).argsort(-1, descending=True).argsort(-1)
    is_part = order < source.between(1, most + 1, n_tables, 1, 1).floor()
    # A table of constants alone keeps one of them.
    return is_part & (differs | (order == 0))


def _ordinal_ranks(values: Tensor) -> Tensor:
    """Return ordinal ranks within each table, from 0."""
    return values.argsort(1).argsort(1)


def _relative_ranks(values: Tensor) -> Tensor:
    """Return ranks within each table, from 0 to 1."""
    return _ordinal_ranks(values) / values.shape[1]


def _standardized(values: Tensor) -> Tensor:
    deviation = values.std(1, keepdim=True).clamp_min(1e-6)
    return (values - values.mean(1, keepdim=True)) / deviation


def _in_units_of(columns: Tensor, standardized: Tensor) -> Tensor:
    return columns.mean(1, keepdim=True) + columns.std(1, keepdim=True) * standardized
