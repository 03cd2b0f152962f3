"""Shares of a score, estimated by putting what was expected in the place of a cell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from imboost.explain.attributions import CellShares, Floats
from imboost.tables.layout import Layout

N_REPLACED = 30
"""Cells of a row that are replaced, one after the other."""

CELLS_AT_ONCE = 1024
"""Cells that are replaced in one call: a call takes long even if it scores few rows."""


def shares_by_replacement(
    score: Callable[[Floats], Floats],
    table: Floats,
    expected: Floats,
    surprise: Floats,
    layout: Layout,
    base: float,
) -> CellShares:
    """Estimate what each column adds to scores.

    Half of what a row scores above a usual one goes to columns by how much the score falls when
    their cell is replaced by the expected one, and half by how surprising the cell is: where
    several cells give a row away, replacing one of them alone changes little. In rows of many
    cells only the most surprising ones are replaced. What a row scores below a usual one goes to
    columns likewise, by how much the score rises and how little surprising the cell is.

    Parameters
    ----------
    score : callable
        Returns the scores of encoded rows.
    table, expected : array of shape (n_rows, n_columns)
        Encoded rows, and what was expected of every cell.
    surprise : array of shape (n_rows, n_sources)
        How surprising each cell is, 0 for a usual one.
    layout : Layout
        Which columns belong together.
    base : float
        The score of a usual row.
    """
    owners = layout.source_of_columns()
    scores = score(table)
    side = np.where(scores < base, -1.0, 1.0)
    surprise = side[:, None] * surprise
    falls = np.zeros((len(table), len(layout.sources)))
    rows, sources = np.nonzero(_most_surprising(surprise))
    for start in range(0, len(rows), CELLS_AT_ONCE):
        row, source = rows[start : start + CELLS_AT_ONCE], sources[start : start + CELLS_AT_ONCE]
        replaced = np.where(owners == source[:, None], expected[row], table[row])
        falls[row, source] = np.maximum(side[row] * (scores[row] - score(replaced)), 0.0)
    parts = (_shares_of_one(falls) + _shares_of_one(np.square(np.maximum(surprise, 0.0)))) / 2
    return CellShares(
        base=base,
        rest=np.zeros(len(table)),
        shares=(scores - base)[:, None] * parts,
        margins=np.zeros(parts.shape[1]),
        expected=expected,
        is_exact=False,
    )


def _most_surprising(surprise: Floats) -> NDArray[np.bool_]:
    """Say which cells are among the `N_REPLACED` most surprising of their row."""
    order = np.argsort(-surprise, axis=1, kind="stable")
    chosen = np.zeros(surprise.shape, dtype=bool)
    np.put_along_axis(chosen, order[:, :N_REPLACED], True, axis=1)
    return chosen


def _shares_of_one(weights: Floats) -> Floats:
    """Return weights whose sum is 1 in every row; equal ones where all are 0."""
    total = weights.sum(axis=1, keepdims=True)
    even = np.full_like(weights, 1 / weights.shape[1])
    return np.asarray(np.divide(weights, total, out=even, where=total > 0))
