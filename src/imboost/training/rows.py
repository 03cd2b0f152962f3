"""The training table: one tensor on the device, scaled as it is read.

Scaling on reading leaves the user's array as the only copy of the table in memory, and lets
a float64 table keep its precision until the values are small.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imboost.stats.scaling import MinMaxScaling, scale_values

CHUNK_CELLS = 1 << 19
"""Cells computed at a time, over all members and samples, when a whole table is scored: enough
to drown the overhead of a call, and few enough to stay in the processor's cache."""
MIN_WIDTH = 32
"""The narrowest hidden layer that matters; tables of fewer columns count as so wide."""


class Rows:
    """Rows of a table, read in the layout of the models.

    Parameters
    ----------
    table : array of shape (rows, features), float32 or float64
        Not copied on the CPU.
    scaling : MinMaxScaling
        Maps every column to the unit interval.
    device : torch.device
        Where batches are wanted.
    """

    def __init__(self, table: NDArray[Any], scaling: MinMaxScaling, device: torch.device) -> None:
        with warnings.catch_warnings():
            # A read-only array is fine: nothing here writes to it.
            warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
            self._table = torch.from_numpy(np.ascontiguousarray(table)).to(device)
        self._offset = torch.from_numpy(scaling.offset).to(self._table)
        self._factor = torch.from_numpy(scaling.factor).to(self._table)
        self._limit = scaling.limit
        self.device = device

    def __len__(self) -> int:
        return len(self._table)

    def take(self, index: NDArray[np.int64], dtype: torch.dtype = torch.float32) -> Tensor:
        """Read the rows at `index` as (features, rows)."""
        where = torch.from_numpy(index).to(self.device)
        return self._scale(self._table.index_select(0, where), dtype)

    def chunks(self, n_copies: int, dtype: torch.dtype) -> Iterator[tuple[slice, Tensor]]:
        """Read the whole table in order, as slices and tensors of (features, rows).

        Parameters
        ----------
        n_copies : int
            How often a row is computed: members times samples.
        dtype : torch.dtype
            Precision of the tensors.
        """
        size = max(1, CHUNK_CELLS // (n_copies * max(MIN_WIDTH, self._table.shape[1])))
        for start in range(0, len(self), size):
            part = slice(start, min(start + size, len(self)))
            yield part, self._scale(self._table[part], dtype)

    def _scale(self, values: Tensor, dtype: torch.dtype) -> Tensor:
        scaled: Tensor = scale_values(values, self._offset, self._factor)
        scaled = scaled.clamp_(-self._limit, self._limit)
        return scaled.to(dtype).t().contiguous()
