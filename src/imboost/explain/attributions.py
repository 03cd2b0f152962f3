"""What detectors say of the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CellShares:
    """What each column of a table adds to the scores of rows.

    A score is the sum of base, rest and shares.

    Parameters
    ----------
    base : float
        The score of a usual row.
    rest : array of shape (n_rows,)
        What no column adds.
    shares : array of shape (n_rows, n_sources)
        What the columns add; a usual cell adds about nothing.
    margins : array of shape (n_sources,)
        What the columns may add in usual rows; 0 where that is not known.
    expected : array of shape (n_rows, n_columns)
        The encoded rows as they would be expected, every cell given the row's others; for a
        category, the level with the largest value.
    is_exact : bool
        Whether the shares follow from the score itself, or are estimated.
    """

    base: float
    rest: Floats
    shares: Floats
    margins: Floats
    expected: Floats
    is_exact: bool
