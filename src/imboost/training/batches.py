"""Batch sizes and the rows of each batch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from imboost.arrays import Indices


@dataclass(frozen=True)
class Schedule:
    """The paper's schedule: epochs of a few updates each, with growing batches.

    The parameters are those of `IMBoost`.
    """

    batch_size: int = 128
    batch_growth: float = 1.03
    max_batch_size: int = 20_000
    plain_epochs: int = 10
    trimmed_epochs: int = 40
    updates_per_epoch: int = 5

    @property
    def warmup_epochs(self) -> int:
        """Epochs before the first query."""
        return self.plain_epochs + self.trimmed_epochs

    def batch_size_at(self, epoch: int, n_rows: int) -> int:
        """Return the batch size in `epoch`, counted from 0, for a pool of `n_rows`.

        >>> [Schedule().batch_size_at(epoch, 10_000) for epoch in (0, 10, 50, 99)]
        [128, 128, 417, 1777]
        """
        n_grown = max(epoch - self.plain_epochs, 0)
        try:
            grown = self.batch_size * float(self.batch_growth) ** n_grown
        except OverflowError:
            grown = math.inf
        return min(int(min(grown, self.max_batch_size)), n_rows)


def draw_batch(pool: int | Indices, size: int, rng: np.random.Generator) -> Indices:
    """Draw `size` rows without replacement from `pool`, a number of rows or their indices."""
    return rng.choice(pool, size, replace=False, shuffle=False)


def draw_at_most(index: Indices, size: int, rng: np.random.Generator) -> Indices:
    """Return `index`, or a random subset of `size` if it is longer."""
    return index if len(index) <= size else draw_batch(index, size, rng)
