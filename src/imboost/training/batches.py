"""Batch sizes and the rows of each batch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imboost.errors import SettingError
from imboost.validation import check_number


@dataclass(frozen=True)
class Schedule:
    """The paper's schedule: epochs of a few updates each, with growing batches.

    Parameters
    ----------
    batch_size : int
        n_0, the rows of a batch during the plain epochs.
    batch_growth : float
        gamma, growth factor of the batch size per epoch after the plain epochs.
    max_batch_size : int
        Largest batch size.
    plain_epochs : int
        T_0, epochs on the untrimmed loss.
    trimmed_epochs : int
        T_1, further warm-up epochs on the trimmed loss.
    round_epochs : int
        T_2 / T_a, polarization epochs per round, and the epochs averaged in the ensembled
        loss (eq. 6).
    updates_per_epoch : int
        Gradient updates per epoch, for tables of any size.
    """

    batch_size: int = 128
    batch_growth: float = 1.03
    max_batch_size: int = 20_000
    plain_epochs: int = 10
    trimmed_epochs: int = 40
    round_epochs: int = 10
    updates_per_epoch: int = 5

    def check(self) -> None:
        """Raise if a setting is out of its range."""
        check_number("batch_size", self.batch_size, minimum=2, whole=True)
        check_number("batch_growth", self.batch_growth, minimum=1.0)
        check_number("max_batch_size", self.max_batch_size, minimum=2, whole=True)
        check_number("plain_epochs", self.plain_epochs, minimum=0, whole=True)
        check_number("trimmed_epochs", self.trimmed_epochs, minimum=0, whole=True)
        check_number("round_epochs", self.round_epochs, minimum=1, whole=True)
        check_number("updates_per_epoch", self.updates_per_epoch, minimum=1, whole=True)
        if self.warmup_epochs == 0:
            raise SettingError("plain_epochs and trimmed_epochs must not both be 0.")

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


def draw_batch(
    pool: int | NDArray[np.int64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw `size` rows without replacement from `pool`, a number of rows or their indices."""
    return rng.choice(pool, size, replace=False, shuffle=False)


@dataclass(frozen=True)
class MiniBatches:
    """Mini-batches of full passes over the rows.

    Parameters
    ----------
    batch_size : int
        Rows of a batch.
    max_batches : int
        Maximum number of batches per pass; larger tables have larger batches.
    """

    batch_size: int = 128
    max_batches: int = 100

    def check(self) -> None:
        """Raise if a setting is out of its range."""
        check_number("batch_size", self.batch_size, minimum=2, whole=True)
        check_number("max_batches", self.max_batches, minimum=1, whole=True)

    def split(self, pool: NDArray[np.int64], rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """Shuffle `pool` and split it into batches of nearly equal size.

        >>> rng = np.random.default_rng(0)
        >>> [len(batch) for batch in MiniBatches(batch_size=4).split(np.arange(10), rng)]
        [4, 3, 3]
        >>> [len(batch) for batch in MiniBatches(4, max_batches=2).split(np.arange(10), rng)]
        [5, 5]
        """
        n_batches = min(math.ceil(len(pool) / self.batch_size), self.max_batches)
        return np.array_split(rng.permutation(pool), n_batches)


def draw_at_most(
    index: NDArray[np.int64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return `index`, or a random subset of `size` if it is longer."""
    return index if len(index) <= size else draw_batch(index, size, rng)
