"""A table as one tensor on the device, min-max scaled batch by batch.

The user's array stays the only copy of the table in memory, and a float64 table keeps its
precision until the values are scaled.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imboost.arrays import Indices
from imboost.stats.scaling import MinMaxScaling, scale_values

CHUNK_CELLS = 1 << 19
"""Cells per chunk, over all members and samples: enough to make the overhead of a call negligible,
few enough to fit the processor's cache."""
CUDA_CHUNK_CELLS = 1 << 25
"""The same on a GPU: 256 MB per tensor in double precision."""
MIN_WIDTH = 32
"""Narrower tables count as this wide: the width of the smallest hidden layer."""


class ScaledRows:
    """Scaled rows of a table (rows, features) as tensors (features, rows) on a device.

    The table is float32 or float64, and is not copied on the CPU.
    """

    def __init__(self, table: NDArray[Any], scaling: MinMaxScaling, device: torch.device) -> None:
        with warnings.catch_warnings():
            # The tensor is never written to, so a read-only array is fine.
            warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
            self._table = torch.from_numpy(np.ascontiguousarray(table)).to(device)
        self._offset = torch.from_numpy(scaling.offset).to(self._table)
        self._factor = torch.from_numpy(scaling.factor).to(self._table)
        self._limit = scaling.limit
        self.device = device

    def __len__(self) -> int:
        return len(self._table)

    def take(self, index: Indices | Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return the rows at `index` as (features, rows)."""
        where = torch.as_tensor(index, device=self.device)
        return self._scale(self._table.index_select(0, where), dtype)

    def chunks(self, n_copies: int, dtype: torch.dtype) -> Iterator[tuple[slice, Tensor]]:
        """Yield the table in order, as slices and tensors of (features, rows).

        `n_copies` is the number of forward passes per row: members times samples.
        """
        n_cells = CUDA_CHUNK_CELLS if self.device.type == "cuda" else CHUNK_CELLS
        size = max(1, n_cells // (n_copies * max(MIN_WIDTH, self._table.shape[1])))
        for start in range(0, len(self), size):
            part = slice(start, min(start + size, len(self)))
            yield part, self._scale(self._table[part], dtype)

    def _scale(self, values: Tensor, dtype: torch.dtype) -> Tensor:
        scaled: Tensor = scale_values(values, self._offset, self._factor)
        scaled = scaled.clamp_(-self._limit, self._limit)
        return scaled.to(dtype).t().contiguous()
