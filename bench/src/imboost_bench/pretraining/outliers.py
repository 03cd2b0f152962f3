"""Outliers of synthetic tables.

A kind of outlier is a function of a random source, the variables (tables, rows, variables), the
numbers of rows and columns that the table shows (the first ones) and the share of outliers
(tables, 1). It returns the shown cells and which rows are outliers. A new kind is one function and
one line in `OUTLIER_KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from imboost_bench.pretraining.random_source import RandomSource
from imboost_bench.pretraining.structures import STRUCTURES
from imboost_bench.pretraining.unsupervised_scores import EXACT

Shape = tuple[int, int]
OutlierKind = Callable[[RandomSource, Tensor, Shape, Tensor], tuple[Tensor, Tensor]]

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


def rare_class(
    source: RandomSource, variables: Tensor, shape: Shape, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Take rows with extreme or particular values of a sum of variables, which may be hidden."""
    standard = _standardized(_with_hidden(source, variables, shape[1]))
    is_part = _some_variables(source, standard, MAX_CLASS_VARIABLES)
    weights = source.normal(len(share), 1, standard.shape[-1]) * is_part
    target = (standard * weights).sum(-1)
    noise = 1e-4 * target.std(1, keepdim=True) * source.normal(*target.shape)  # breaks ties
    rank = _relative_ranks(target + noise)
    end = source.events(0.5, *share.shape).float()
    anywhere = source.uniform(*share.shape)
    center = torch.where(source.events(0.7, *share.shape), end, anywhere)
    return _separate(source, variables, shape, (rank - center).abs(), share)


def rare_region(
    source: RandomSource, variables: Tensor, shape: Shape, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Take the rows nearest to one of them, by a few variables."""
    used = _region_variables(source, variables, shape)
    distance = _distance_to_rows(source, *used, 1, _preference(source, share))
    return _separate(source, variables, shape, distance, share)


def nearest_centers(
    source: RandomSource, variables: Tensor, shape: Shape, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Take rows whose nearest center belongs to the outliers: one of many classes."""
    used = _region_variables(source, variables, shape)
    preference = _preference(source, share)
    n_own, n_others = (source.number(1, most) for most in MAX_CENTERS)
    own = _distance_to_rows(source, *used, n_own, preference)
    others = _distance_to_rows(source, *used, n_others, torch.zeros_like(preference))
    return _separate(source, variables, shape, own - others, share)


def rules(
    source: RandomSource, variables: Tensor, shape: Shape, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Take rows that meet all conditions of a rule: low or high values of a few variables."""
    shown = _with_hidden(source, variables, shape[1])
    rank = _relative_ranks(_standardized(shown) + 1e-4 * source.normal(*shown.shape))
    distances = []
    for _ in range(source.number(1, 2)):  # rules, of which one has to be met
        is_low = source.events(0.5, len(share), 1, rank.shape[-1])
        violation = torch.where(is_low, rank, 1 - rank)
        is_part = _some_variables(source, shown, MAX_CONDITIONS)
        distances.append(violation.masked_fill(~is_part, 0.0).amax(-1))
    return _separate(source, variables, shape, torch.stack(distances).amin(0), share)


def group(
    source: RandomSource, variables: Tensor, shape: Shape, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Move rows to clusters of their own."""
    columns = variables[:, : shape[0], : shape[1]]
    n_tables, _, n = columns.shape
    n_groups = source.number(1, 3)
    centers = source.normal(n_tables, n_groups, n) * source.between(0.5, 3.0, n_tables, 1, 1)
    own = source.integers(n_groups, *columns.shape[:2], 1).expand(-1, -1, n)
    spread = source.between(0.1, 1.0, n_tables, 1, 1)
    moved = _standardized(columns) * spread + centers.gather(1, own)
    return _plant(source, columns, _in_units_of(columns, moved), share)


def broken_dependency(
    source: RandomSource, variables: Tensor, shape: Shape, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Replace values by those of other rows, which are typical of their column."""
    columns = variables[:, : shape[0], : shape[1]]
    other = source.uniform(*columns.shape).argsort(1)
    return _plant(source, columns, columns.gather(1, other), share)


def far_values(
    source: RandomSource, variables: Tensor, shape: Shape, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Scale values away from the mean of their column and add noise."""
    columns = variables[:, : shape[0], : shape[1]]
    n_tables = len(columns)
    factor = source.between(1.0, 5.0, n_tables, 1, 1)
    noise = source.between(0.0, 1.5, n_tables, 1, 1) * source.normal(*columns.shape)
    return _plant(
        source, columns, _in_units_of(columns, factor * _standardized(columns) + noise), share
    )


def uniform_values(
    source: RandomSource, variables: Tensor, shape: Shape, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Draw values uniformly from the range of their column."""
    columns = variables[:, : shape[0], : shape[1]]
    low, high = columns.amin(1, keepdim=True), columns.amax(1, keepdim=True)
    return _plant(source, columns, low + (high - low) * source.uniform(*columns.shape), share)


def other_structure(
    source: RandomSource, variables: Tensor, shape: Shape, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Draw rows from another structure with similar means and deviations."""
    columns = variables[:, : shape[0], : shape[1]]
    structure = source.choice(tuple(STRUCTURES.values()))
    drawn = _standardized(structure(source, *columns.shape))
    scale = source.between(0.4, 1.6, len(columns), 1, 1)
    return _plant(source, columns, _in_units_of(columns, scale * drawn), share)


OUTLIER_KINDS: dict[str, OutlierKind] = {
    "rare_class": rare_class,
    "rare_region": rare_region,
    "nearest_centers": nearest_centers,
    "rules": rules,
    "group": group,
    "broken_dependency": broken_dependency,
    "far_values": far_values,
    "uniform_values": uniform_values,
    "other_structure": other_structure,
}
"""Kinds of outliers by name."""
WEIGHTS = {"rare_class": 4, "nearest_centers": 4, "rules": 3, "rare_region": 2, "group": 2}
"""Kinds that are drawn more often than the others: most outliers of real tables are a class."""


def draw_kind(source: RandomSource) -> OutlierKind:
    """Draw a kind of outlier."""
    return source.choice(
        [kind for name, kind in OUTLIER_KINDS.items() for _ in range(WEIGHTS.get(name, 1))]
    )


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
    return _ordinal_ranks(distance.abs()) < (share * distance.shape[1]).ceil()


def _separate(
    source: RandomSource, variables: Tensor, shape: Shape, distance: Tensor, share: Tensor
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


def _region_variables(
    source: RandomSource, variables: Tensor, shape: Shape
) -> tuple[Tensor, Tensor]:
    """Return standardised variables, and which of them a region depends on."""
    standard = _standardized(_with_hidden(source, variables, shape[1]))
    return standard, _some_variables(source, standard, MAX_REGION_VARIABLES)


def _preference(source: RandomSource, share: Tensor) -> Tensor:
    """Draw the log-odds with which centers of outliers are far from the mean."""
    return source.between(0.0, MAX_PREFERENCE, *share.shape)


def _distance_to_rows(
    source: RandomSource, rows: Tensor, is_part: Tensor, n: int, preference: Tensor
) -> Tensor:
    """Return the distance (tables, rows) to the nearest of n random rows, by some variables.

    The larger the `preference` (tables, 1), the more often these are rows far from the mean.
    """
    used = rows * is_part
    far = preference * _relative_ranks(used.square().sum(-1))
    chosen = (far + source.gumbel(*far.shape)).topk(n).indices[..., None]
    centers = used.gather(1, chosen.expand(-1, -1, used.shape[-1]))
    return torch.cdist(used, centers, compute_mode=EXACT).amin(-1)


def _with_hidden(source: RandomSource, variables: Tensor, n_columns: int) -> Tensor:
    """Return the variables with those that a table does not show set to 0 in most tables."""
    is_shown = torch.arange(variables.shape[-1], device=variables.device) < n_columns
    return variables * (is_shown | source.events(HIDDEN_CLASSES, len(variables), 1, 1))


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
