"""Base class of detectors that train a neural network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from imboost.detectors.base import COUNT, NOT_NEGATIVE, POSITIVE, TWO_OR_MORE, BaseDetector
from imboost.detectors.device import resolve_device
from imboost.stats.scaling import MinMaxScaling
from imboost.training.scaled_rows import ScaledRows


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkDetector(BaseDetector):
    """Min-max scaling, device and random generators of a deep detector."""

    unsaved_attributes = ("_model", "_optimiser")

    n_members: int = field(default=1, metadata=COUNT)
    learning_rate: float = field(default=1e-3, metadata=POSITIVE)
    weight_decay: float = field(default=5e-7, metadata=NOT_NEGATIVE)
    batch_size: int = field(default=128, metadata=TWO_OR_MORE)

    def _prepare(self, X: NDArray[Any]) -> ScaledRows:
        """Choose the device, fit the scaling and return the training rows."""
        self._device = resolve_device(self.device)
        self._scaling = MinMaxScaling.fit(X)
        return self._rows(X)

    def _rows(self, X: NDArray[Any]) -> ScaledRows:
        return ScaledRows(X, self._scaling, self._device)

    def _random_sources(self, stage: int) -> tuple[np.random.Generator, torch.Generator]:
        """Return random generators of batches and noise for one stage of training.

        They depend only on the seed and the stage, so that training can resume without a saved
        generator state. Noise is always drawn on the CPU: the same seed then trains the same
        model on every device.
        """
        rng = np.random.default_rng([self._seed, stage])
        return rng, torch.Generator().manual_seed(int(rng.integers(2**63)))
