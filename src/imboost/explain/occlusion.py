"""Attribution by occlusion: replace a cell by its expected value and score the row again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats
from imboost.explain.attributions import Attributions
from imboost.tables.layout import Layout

MAX_OCCLUDED = 30  # cells of a row that are occluded, one at a time; bounds the cost
BATCH_SIZE = 1024  # occluded rows that are scored in one call, since a call has a fixed cost


def occlusion_attributions(
    score: Callable[[NDArray[Any]], Floats],
    table: NDArray[Any],
    expected: NDArray[Any],
    deviations: Floats,
    layout: Layout,
    baseline: float,
) -> Attributions:
    """Estimate the contribution of each column to the scores.

    The difference between a score and the baseline is split among the columns: one half in
    proportion to how far the score moves towards the baseline when the column's cell is replaced
    by its expected value, the other half in proportion to the squared deviation of the cell from
    that value. Occlusion alone fails where several cells are outlying, since replacing only one
    of them changes little. In wide tables only the most deviating cells are occluded. Rows that
    score below the baseline are treated the same way, with signs reversed.

    `score` returns the scores of encoded rows, of which `table` and `expected` hold the cells and
    their expected values; `deviations` (n_rows, n_input_columns) are those of the cells from
    these values, standardized, and 0 for a typical cell.
    """
    owners = layout.source_of_columns()
    scores = score(table)
    sign = np.where(scores < baseline, -1.0, 1.0)
    deviations = sign[:, None] * deviations
    changes = np.zeros((len(table), len(layout.sources)))
    most_deviating = np.argsort(-deviations, axis=1, kind="stable")[:, :MAX_OCCLUDED]
    is_occluded = np.zeros(deviations.shape, dtype=bool)
    np.put_along_axis(is_occluded, most_deviating, True, axis=1)
    rows, sources = np.nonzero(is_occluded)
    for start in range(0, len(rows), BATCH_SIZE):
        row, source = rows[start : start + BATCH_SIZE], sources[start : start + BATCH_SIZE]
        occluded = np.where(owners == source[:, None], expected[row], table[row])
        changes[row, source] = np.maximum(sign[row] * (scores[row] - score(occluded)), 0.0)
    squares = np.square(np.maximum(deviations, 0.0))
    shares = (_normalize(changes) + _normalize(squares)) / 2
    return Attributions(
        baseline=baseline,
        residual=np.zeros(len(table)),
        contributions=(scores - baseline)[:, None] * shares,
        tolerances=np.zeros(shares.shape[1]),
        expected=expected,
        is_exact=False,
    )


def _normalize(weights: Floats) -> Floats:
    """Return weights that sum to 1 in every row; equal weights where all are 0."""
    total = weights.sum(axis=1, keepdims=True)
    equal = np.full_like(weights, 1 / weights.shape[1])
    return np.asarray(np.divide(weights, total, out=equal, where=total > 0))
