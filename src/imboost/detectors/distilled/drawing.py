"""Draw rows around the rows of an encoded table, on which a teacher is asked for its scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imboost.tables.layout import Kind, Layout

Floats = NDArray[np.float64]

MAX_REPLACED = 0.5  # largest probability with which a cell is taken from another row
MAX_SHIFT = 0.5  # largest part of the way to another row
NOISE = (0.01, 0.3)  # range of the noise, in standard deviations of a column
MAX_EXCESS = 1.0  # how far random numbers exceed the range of a column, in its width
N_RANDOM_CELLS = 2  # expected number of random cells of a row that has any
HIGH_SCORE_WEIGHT = 3.0  # how much more often the row with the highest score is drawn


def draw_rows(
    X: Floats, layout: Layout, scores: Floats, n_rows: int, rng: np.random.Generator
) -> Floats:
    """Return new rows, a quarter each of four kinds.

    The kinds are rows with cells of another row, rows on the way to another row, rows with noise
    and rows with a few random cells, which may lie outside the range of their column. Categories
    change only with whole cells. Flags of broken rules are 0, since nothing is known about them.

    Parameters
    ----------
    X : array of shape (n_known, n_columns)
        Encoded rows, nan where a number is missing.
    layout : Layout
    scores : array of shape (n_known,)
        Rows with high scores are drawn more often.
    n_rows : int
    rng : Generator
    """
    ranks = scores.argsort().argsort() / max(len(scores) - 1, 1)
    weights = 1.0 + HIGH_SCORE_WEIGHT * ranks**4
    rows = X[rng.choice(len(X), n_rows, p=weights / weights.sum())]
    others = X[rng.integers(len(X), size=n_rows)]
    owners, n_sources = layout.source_of_columns(), len(layout.sources)
    numeric = np.flatnonzero(
        np.concatenate([[f.kind == Kind.NUMERIC] * (f.stop - f.start) for f in layout.features])
    )
    kind = rng.integers(4, size=n_rows)[:, None]
    chance = rng.uniform(0, MAX_REPLACED, size=(n_rows, 1))
    is_replaced = (rng.random((n_rows, n_sources)) < chance)[:, owners]
    drawn = np.where((kind == 0) & is_replaced, others, rows)
    way = rng.uniform(0, MAX_SHIFT, size=(n_rows, 1)) * (others - rows)[:, numeric]
    low, high = np.log(NOISE)
    size = np.exp(rng.uniform(low, high, size=(n_rows, 1))) * np.nan_to_num(_deviations(X[:, numeric]))
    noise = size * rng.normal(size=(n_rows, len(numeric)))
    drawn[:, numeric] += np.where(kind == 1, np.nan_to_num(way), np.where(kind == 2, noise, 0.0))
    is_random = rng.random((n_rows, n_sources)) < N_RANDOM_CELLS / n_sources
    drawn = np.where((kind == 3) & is_random[:, owners], _random_rows(X, layout, n_rows, rng), drawn)
    for feature in layout.of_kind(Kind.RULE):
        drawn[:, feature.columns] = 0.0
    return drawn


def _deviations(numbers: Floats) -> Floats:
    """Return the standard deviation of the known values of every column."""
    return np.asarray(np.ma.masked_invalid(numbers).std(axis=0).filled(0.0))


def _random_rows(X: Floats, layout: Layout, n_rows: int, rng: np.random.Generator) -> Floats:
    """Return rows of random cells: numbers of a wider range, and any category; none is missing."""
    rows = np.zeros((n_rows, X.shape[1]))
    for feature in layout.features:
        if feature.kind == Kind.CATEGORICAL:
            chosen = rng.integers(feature.start, feature.stop, size=n_rows)
            rows[np.arange(n_rows), chosen] = 1.0
        elif feature.kind == Kind.NUMERIC:
            known = X[:, feature.start][~np.isnan(X[:, feature.start])]
            if len(known):
                low, high = known.min(), known.max()
                excess = MAX_EXCESS * (high - low)
                rows[:, feature.start] = rng.uniform(low - excess, high + excess, n_rows)
    return rows
