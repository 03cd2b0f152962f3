"""Attribution of a row's score to the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attributions:
    """Contributions of the columns to the scores of rows.

    A score is the sum of the baseline, the residual and the contributions.

    Parameters
    ----------
    baseline : float
        The score of a typical row.
    residual : array of shape (n_rows,)
        The part of each score that belongs to no column.
    contributions : array of shape (n_rows, n_sources)
        The part of each score that belongs to each column; near 0 for a typical value.
    tolerances : array of shape (n_sources,)
        Contributions up to this size also occur in reference rows; 0 where unknown.
    expected : array of shape (n_rows, n_columns)
        Encoded rows with every cell predicted from the other cells of its row; for a category,
        the column with the largest value is the predicted one.
    is_exact : bool
        Whether the contributions are terms of the score itself, or estimates.
    """

    baseline: float
    residual: Floats
    contributions: Floats
    tolerances: Floats
    expected: Floats
    is_exact: bool
