"""Groups of rows that one answer may cover: the same wrong cells, or near duplicates."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from imboost.arrays import Floats, Indices
from imboost.labelling.columns import Columns

MAX_ROWS = 100  # of a group: a person looks through all of them
SUSPECT_FRACTION = 0.05  # of the rows: lower scores are grouped only if predicted outliers
MAX_COLUMNS = 2  # first reasons that the rows of a group share
NEAR_DUPLICATE = 0.9  # fraction of equal cells from which rows are near duplicates


def find_suspects(scores: Floats, threshold: float) -> Indices:
    """Return the rows that may be grouped: predicted outliers and the highest scores."""
    floor = min(threshold, float(np.quantile(scores, 1 - SUSPECT_FRACTION)))
    return np.flatnonzero(scores > floor)


def find_group(
    columns: Columns,
    row: int,
    reasons: Sequence[str],
    scores: Floats,
    suspects: Indices,
    rules: Collection[str] = (),
) -> tuple[str, list[int]]:
    """Return what the rows like a row share, and these rows by descending score.

    A row that is no suspect has no group: its answer is likely "inlier", and may be wrong for
    suspicious rows that look alike.

    Parameters
    ----------
    columns : Columns
    row : int
    reasons : sequence of str
        Columns that make the row unusual, the strongest first.
    scores : array of shape (n_rows,)
    suspects : array of int
        Rows that may be grouped, ascending; see `find_suspects`.
    rules : collection of str
        Reasons that are broken rules: rows are alike if they break a rule of the same column.
    """
    if row not in suspects:
        return "", []
    suspects = suspects[suspects != row]
    shared = [name for name in reasons if name in columns.used][:MAX_COLUMNS]
    if shared:
        shared = shared[:1] if shared[0] in rules else [one for one in shared if one not in rules]
        is_like = np.all(
            [columns.like(row, name, is_rule=name in rules)[suspects] for name in shared], axis=0
        )
        way = "by a broken rule" if shared[0] in rules else "in the same way"
        reason = f"unusual in {' and '.join(shared)} {way}"
    else:
        equal = np.mean([column.equal(row)[suspects] for column in columns.used.values()], axis=0)
        is_like = equal >= NEAR_DUPLICATE
        reason = "nearly all cells are the same"
    found = suspects[is_like]
    order = np.argsort(-scores[found], kind="stable")[:MAX_ROWS]
    return reason, found[order].tolist()
