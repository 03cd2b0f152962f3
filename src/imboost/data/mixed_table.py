"""A made-up table as users have them: mixed columns, gaps, an id and known wrong cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

KINDS = ("out of range", "rare category", "impossible combination")
"""What is wrong with an outlier."""

N_REGIONS, CITIES_PER_REGION, N_SHOPS = 8, 3, 5000
START = np.datetime64("2024-01-01T00:00:00", "s")
NUMBERS = ("amount", "tax", "weight", "height", "age", "balance", "visits", "rating")
RANGED = ("amount", "weight", "height", "rating")
WORDED = ("region", "city", "channel")

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class MixedTable:
    """The table, which rows are wrong, and where.

    Parameters
    ----------
    table : Arrow table
        An id, 8 numeric, 4 categorical and 2 datetime columns with gaps.
    y : array of shape (n_rows,)
        0 for an inlier, 1 for an outlier.
    kinds : array of str
        What is wrong with each row, one of `KINDS`; empty for an inlier.
    cells : list of tuple of str
        The columns whose cells give each row away; empty for an inlier.
    """

    table: pa.Table
    y: NDArray[np.int8]
    kinds: NDArray[np.str_]
    cells: list[tuple[str, ...]]


def mixed_table(
    n_rows: int = 2000, *, share: float = 0.015, gaps: float = 0.1, seed: int = 0
) -> MixedTable:
    """Make a table of orders in which a few cells are wrong.

    Parameters
    ----------
    n_rows : int
    share : float
        Part of the rows that are outliers, a third of each kind.
    gaps : float
        Part of the cells that are missing; cells that give an outlier away are kept.
    seed : int

    Examples
    --------
    >>> made = mixed_table(300)
    >>> made.table.num_columns, int(made.y.sum())
    (15, 4)
    """
    rng = np.random.default_rng(seed)
    columns = _inliers(n_rows, rng)
    wrong = rng.choice(n_rows, max(3, round(share * n_rows)), replace=False)
    kinds = np.full(n_rows, "", dtype="U24")
    cells: list[tuple[str, ...]] = [() for _ in range(n_rows)]
    for place, row in enumerate(wrong.tolist()):
        kinds[row] = KINDS[place % len(KINDS)]
        cells[row] = _SPOIL[kinds[row]](columns, row, rng)
    table = _with_gaps(columns, cells, gaps, rng)
    return MixedTable(table, (kinds != "").astype(np.int8), kinds, cells)


def _inliers(n: int, rng: np.random.Generator) -> Columns:
    size, wealth, habit = rng.normal(size=(3, n))
    amount = np.exp(3 + 0.8 * size + 0.3 * rng.normal(size=n))
    region = rng.choice(N_REGIONS, n, p=_falling(N_REGIONS))
    city = region * CITIES_PER_REGION + rng.choice(CITIES_PER_REGION, n, p=(0.6, 0.3, 0.1))
    shop = rng.choice(N_SHOPS, n, p=_falling(N_SHOPS))
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


def _out_of_range(columns: Columns, row: int, rng: np.random.Generator) -> tuple[str, ...]:
    name = str(rng.choice(RANGED))
    column = columns[name]
    column[row] = column.max() + rng.uniform(0.5, 2.0) * np.ptp(column) if name != "rating" else -9
    return (name,)


def _rare_category(columns: Columns, row: int, rng: np.random.Generator) -> tuple[str, ...]:
    name = str(rng.choice(WORDED))
    columns[name][row] = f"x{rng.integers(1000)}"
    return (name,)


def _impossible(columns: Columns, row: int, rng: np.random.Generator) -> tuple[str, ...]:
    if rng.random() < 0.5:  # a city of another region
        region = int(columns["region"][row][1:]) if columns["region"][row][0] == "R" else 0
        other = (region + rng.integers(1, N_REGIONS)) % N_REGIONS
        columns["city"][row] = f"city {other * CITIES_PER_REGION}"
        return ("city", "region")
    columns["tax"][row] = columns["tax"][row] * rng.choice((0.1, 8.0))
    return ("tax", "amount")


_SPOIL: dict[str, Callable[[Columns, int, np.random.Generator], tuple[str, ...]]] = dict(
    zip(KINDS, (_out_of_range, _rare_category, _impossible), strict=True)
)


def _falling(number: int) -> NDArray[np.float64]:
    weights = 1 / np.arange(1, number + 1) ** 0.7
    return np.asarray(weights / weights.sum())


def _with_gaps(
    columns: Columns,
    cells: list[tuple[str, ...]],
    gaps: float,
    rng: np.random.Generator,
) -> pa.Table:
    made = {}
    for name, column in columns.items():
        missing = (rng.random(len(column)) < gaps) & (name != "order_id")
        missing &= np.array([name not in cell for cell in cells])
        made[name] = pa.array(column, mask=missing)
    return pa.table(made)
