"""A synthetic table of orders: mixed columns, missing values, an identifier and known outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from imboost.arrays import Floats

KINDS = ("out of range", "rare category", "impossible combination")
"""Kinds of outliers."""

N_REGIONS, CITIES_PER_REGION, N_SHOPS = 8, 3, 5000
START = np.datetime64("2024-01-01T00:00:00", "s")
RANGED = ("amount", "weight", "height", "rating")
NAMED = ("region", "city", "channel")

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class MixedTable:
    """A table with known outliers."""

    table: pa.Table
    """An identifier, 8 numeric, 4 categorical and 2 datetime columns with missing values."""
    y: NDArray[np.int8]  # 0 for an inlier, 1 for an outlier
    kinds: NDArray[np.str_]  # of outliers, see `KINDS`; empty for an inlier
    cells: list[tuple[str, ...]]  # the columns of wrong cells; empty for an inlier


def mixed_table(
    n_rows: int = 2000, *, contamination: float = 0.015, missing: float = 0.1, seed: int = 0
) -> MixedTable:
    """Generate orders in which a few cells are wrong, in a third of the outliers for each kind.

    A share `missing` of the cells is missing, but never the wrong cells of outliers.

    >>> orders = mixed_table(300)
    >>> orders.table.num_columns, int(orders.y.sum())
    (15, 4)
    """
    rng = np.random.default_rng(seed)
    columns = _inliers(n_rows, rng)
    # Values out of range exceed those of inliers, not those of earlier outliers, which would
    # make them grow without bound.
    ranges = {name: (float(columns[name].max()), float(np.ptp(columns[name]))) for name in RANGED}
    kinds = np.full(n_rows, "", dtype="U24")
    cells: list[tuple[str, ...]] = [() for _ in range(n_rows)]
    wrong = rng.choice(n_rows, max(3, round(contamination * n_rows)), replace=False)
    for number, row in enumerate(wrong.tolist()):
        kinds[row] = KINDS[number % len(KINDS)]
        cells[row] = _corrupt(columns, row, kinds[row], ranges, rng)
    table = _remove_cells(columns, cells, missing, rng)
    return MixedTable(table, (kinds != "").astype(np.int8), kinds, cells)


def _inliers(n: int, rng: np.random.Generator) -> Columns:
    size, wealth, habit = rng.normal(size=(3, n))
    amount = np.exp(3 + 0.8 * size + 0.3 * rng.normal(size=n))
    region = rng.choice(N_REGIONS, n, p=_power_law(N_REGIONS))
    city = region * CITIES_PER_REGION + rng.choice(CITIES_PER_REGION, n, p=(0.6, 0.3, 0.1))
    shop = rng.choice(N_SHOPS, n, p=_power_law(N_SHOPS))
    day, hour = rng.integers(0, 700, n), np.clip(rng.normal(14, 2.5, n), 7, 21)
    ordered = START + (86_400 * day + 3600 * hour).astype("timedelta64[s]")
    shipped = ordered + (3600 * np.exp(2 + 0.5 * rng.normal(size=n))).astype("timedelta64[s]")
    return {
        "order_id": np.array([f"A{number:07d}" for number in range(n)]),
        "amount": amount,
        "tax": 0.19 * amount * np.exp(0.02 * rng.normal(size=n)),
        "weight": np.exp(0.5 * size + 0.2 * rng.normal(size=n)),
        "height": 20 + 5 * size + rng.normal(size=n),
        "age": np.clip(45 + 12 * wealth + 5 * rng.normal(size=n), 18, 95),
        "balance": 1000 * np.sinh(wealth + 0.3 * rng.normal(size=n)),
        "visits": rng.poisson(np.exp(1 + 0.5 * habit)).astype(float),
        "rating": np.clip(4 + 0.5 * habit + 0.4 * rng.normal(size=n), 1, 5),
        "region": np.array([f"R{number}" for number in range(N_REGIONS)], dtype="U12")[region],
        "city": np.array([f"city {number}" for number in range(24)], dtype="U12")[city],
        "channel": np.array(["web", "phone", "desk"], dtype="U12")[
            (habit + 0.5 * rng.normal(size=n) > 0).astype(int) + (rng.random(n) < 0.05)
        ],
        "shop": np.array([f"S{number:04d}" for number in range(N_SHOPS)], dtype="U12")[shop],
        "ordered": ordered,
        "shipped": shipped,
    }


def _corrupt(
    columns: Columns,
    row: int,
    kind: str,
    ranges: dict[str, tuple[float, float]],
    rng: np.random.Generator,
) -> tuple[str, ...]:
    """Make a row an outlier of a kind; return the columns of its wrong cells."""
    if kind == "out of range":
        name = str(rng.choice(RANGED))
        largest, width = ranges[name]
        excess = rng.uniform(0.5, 2.0) * width
        columns[name][row] = -9 if name == "rating" else largest + excess
        return (name,)
    if kind == "rare category":
        name = str(rng.choice(NAMED))
        columns[name][row] = f"x{rng.integers(1000)}"
        return (name,)
    if rng.random() < 0.5:  # a city of another region
        region = int(columns["region"][row][1:])
        other = (region + rng.integers(1, N_REGIONS)) % N_REGIONS
        columns["city"][row] = f"city {other * CITIES_PER_REGION}"
        return ("city", "region")
    columns["tax"][row] *= rng.choice((0.1, 8.0))
    return ("tax", "amount")


def _power_law(number: int) -> Floats:
    weights = 1 / np.arange(1, number + 1) ** 0.7
    return np.asarray(weights / weights.sum())


def _remove_cells(
    columns: Columns, kept: list[tuple[str, ...]], missing: float, rng: np.random.Generator
) -> pa.Table:
    remaining = {}
    for name, column in columns.items():
        is_missing = (rng.random(len(column)) < missing) & (name != "order_id")
        is_missing &= np.array([name not in names for names in kept])
        remaining[name] = pa.array(column, mask=is_missing)
    return pa.table(remaining)
