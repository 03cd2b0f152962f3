"""Draw rows around the rows of a table, for which a teacher is asked for its scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats, Indices, Mask
from imboost.tables.layout import Kind, Layout

Cells = dict[Any, Any]
"""The cells of a table by column: floats, nan where missing, or strings in an Arrow array."""
Encode = Callable[[Cells], NDArray[Any]]
"""Returns the matrix of a table."""

MAX_REPLACED = 0.5  # largest probability with which a cell is taken from another row
MAX_SHIFT = 0.5  # largest weight of the other row in an interpolation
NOISE = (0.01, 0.3)  # range of the noise, in standard deviations of a column
MAX_EXCESS = 1.0  # how far random numbers exceed the range of a column, in its width
N_RANDOM_CELLS = 2  # expected number of random cells of a row that has any
HIGH_SCORE_WEIGHT = 3.0  # how much more often the row with the highest score is drawn
UNSEEN = "(never seen)"  # stands for all categories that are not in the table


def draw_rows(
    cells: Cells,
    encode: Encode,
    layout: Layout,
    scores: Floats,
    n_rows: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the matrix of new rows.

    A quarter each are rows with cells of another row, rows with a few random cells, rows with
    noise, and interpolations between two rows. The cells of the first two are drawn before they
    are encoded, so that they may break rules. The others differ from a row of the table in their
    numbers alone and keep its flags of broken rules: numbers that satisfy a sum exactly no longer
    do so after the smallest change.

    Parameters
    ----------
    cells : dict of str to array
        The table.
    encode : callable
    layout : Layout
        Of the encoded matrix.
    scores : array of shape (n_known,)
        Rows with high scores are drawn more often.
    n_rows : int
    rng : Generator
    """
    ranks = scores.argsort().argsort() / max(len(scores) - 1, 1)
    weights = 1.0 + HIGH_SCORE_WEIGHT * ranks**4
    rows = rng.choice(len(scores), n_rows, p=weights / weights.sum())
    n_changed = n_rows // 2
    changed = encode(_change_cells(cells, rows[:n_changed], len(scores), rng))
    moved = encode(take_rows(cells, rows[n_changed:]))
    others = encode(take_rows(cells, rng.integers(len(scores), size=len(moved))))
    _move_numbers(moved, others, layout.n_of_kind(Kind.NUMERIC), rng)
    return np.vstack([changed, moved])


def take_rows(cells: Cells, rows: Indices) -> Cells:
    """Return some rows of a table."""
    return {name: column.take(rows) for name, column in cells.items()}


def _change_cells(cells: Cells, rows: Indices, n_known: int, rng: np.random.Generator) -> Cells:
    """Return rows in which some cells are those of another row, or some cells are random."""
    n_rows = len(rows)
    others = rng.integers(n_known, size=n_rows)
    chance = rng.uniform(0, MAX_REPLACED, size=n_rows)
    is_first_half = np.arange(n_rows) < n_rows // 2
    changed = {}
    for name, column in cells.items():
        is_replaced = is_first_half & (rng.random(n_rows) < chance)
        is_random = ~is_first_half & (rng.random(n_rows) < N_RANDOM_CELLS / len(cells))
        taken = column.take(np.where(is_replaced, others, rows))
        changed[name] = _with_random_cells(taken, column, is_random, rng)
    return changed


def _with_random_cells(cells: Any, column: Any, is_random: Mask, rng: np.random.Generator) -> Any:
    """Return cells of a column, some of them random: of a wider range, or any category."""
    if isinstance(column, np.ndarray):
        known = column[~np.isnan(column)]
        if len(known) == 0:
            return cells
        low, high = known.min() / 2, known.max() / 2  # halved: the difference may overflow
        excess = MAX_EXCESS * (high - low)
        drawn = rng.uniform(low - excess, high + excess, size=len(cells)) * 2
        return np.where(is_random, drawn, cells)
    import pyarrow as pa
    import pyarrow.compute as pc

    distinct = pa.array([*column.unique().to_pylist(), UNSEEN], pa.string())
    drawn = distinct.take(pa.array(rng.integers(len(distinct), size=len(cells))))
    return pc.if_else(pa.array(is_random), drawn, cells)


def _move_numbers(rows: Floats, others: Floats, n_numeric: int, rng: np.random.Generator) -> None:
    """Add noise to the numbers of half of the encoded rows, and interpolate the rest."""
    n_rows = len(rows)
    numbers = rows[:, :n_numeric]
    deviations = np.ma.masked_invalid(others[:, :n_numeric]).std(axis=0).filled(0.0)
    low, high = np.log(NOISE)
    size = np.exp(rng.uniform(low, high, size=(n_rows, 1))) * deviations
    noise = size * rng.normal(size=numbers.shape)
    shift = rng.uniform(0, MAX_SHIFT, size=(n_rows, 1)) * (others[:, :n_numeric] - numbers)
    is_noisy = np.arange(n_rows)[:, None] < n_rows // 2
    numbers += np.where(is_noisy, noise, np.nan_to_num(shift))
