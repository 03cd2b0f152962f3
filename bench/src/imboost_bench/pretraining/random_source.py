"""Random tensors on one device, all from one seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

Item = TypeVar("Item")


class RandomSource:
    """Draws tensors on a device, and single numbers and choices on the CPU.

    Tensors have one row per table, so that tables of a batch differ.

    >>> source = RandomSource((0, 1))
    >>> source.uniform(2, 3).shape
    torch.Size([2, 3])
    """

    def __init__(self, seed: Sequence[int], device: torch.device | str = "cpu") -> None:
        self._numbers = np.random.default_rng(list(seed))
        self.device = torch.device(device)
        self._generator = torch.Generator(self.device)
        self._generator.manual_seed(int(self._numbers.integers(2**62)))

    def uniform(self, *shape: int) -> Tensor:
        """Return numbers between 0 and 1."""
        return torch.rand(*shape, generator=self._generator, device=self.device)

    def between(self, low: float, high: float, *shape: int) -> Tensor:
        """Return numbers between two limits."""
        return low + (high - low) * self.uniform(*shape)

    def log_between(self, low: float, high: float, *shape: int) -> Tensor:
        """Return numbers between two limits whose logarithms are uniform."""
        return self.between(float(np.log(low)), float(np.log(high)), *shape).exp()

    def normal(self, *shape: int) -> Tensor:
        """Return standard normal numbers."""
        return torch.randn(*shape, generator=self._generator, device=self.device)

    def events(self, probability: float, *shape: int) -> Tensor:
        """Return booleans that are true with a probability."""
        return self.uniform(*shape) < probability

    def integers(self, n: int, *shape: int) -> Tensor:
        """Return integers from 0 to n - 1."""
        return torch.randint(n, shape, generator=self._generator, device=self.device)

    def gumbel(self, *shape: int) -> Tensor:
        """Return Gumbel numbers: the largest of logits plus these is a draw by softmax."""
        inner = self.uniform(*shape).clamp(1e-6, 1 - 1e-6)
        return -torch.log(-torch.log(inner))

    def number(self, low: int, high: int) -> int:
        """Return one integer from low to high, both included."""
        return int(self._numbers.integers(low, high + 1))

    def choice(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[int(self._numbers.integers(len(items)))]
