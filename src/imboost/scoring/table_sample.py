"""Some rows of a table that may be larger than memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from imboost.arrays import Floats, Indices, Mask
from imboost.labels import UNLABELLED, Labels

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class TableSample:
    """Some rows of a table: rows that were chosen, and a uniform sample of all others."""

    table: pa.Table  # the rows, in the order of the complete table
    rows: Indices  # their row numbers in the complete table, from 0
    n_rows: int  # number of rows of the complete table
    is_drawn: Mask  # rows of the uniform sample; others were chosen and stand for themselves

    @property
    def is_complete(self) -> bool:
        """Whether all rows of the table are in the sample."""
        return len(self.rows) == self.n_rows

    def weights(self, labels: Labels) -> Floats:
        """Return how many rows of the complete table each row stands for.

        Labelled rows stand for themselves, like chosen ones: the label of a row says nothing
        about other rows. If all drawn rows are labelled, they count the same.
        """
        is_open = self.is_drawn & (labels == UNLABELLED)
        shared = is_open if is_open.any() else self.is_drawn
        n_others = self.n_rows - int((~shared).sum())
        return np.where(shared, n_others / max(int(shared.sum()), 1), 1.0)
