"""A multi-layer perceptron from encoded rows to one number: the student of a distillation."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imboost.arrays import Floats
from imboost.models.ensemble_layers import with_weights
from imboost.stats.scaling import MAX_STANDARD_SCALED, MinMaxScaling, scale_values

HIDDEN_WIDTHS = (96, 96, 96)


class Perceptron(nn.Module):
    """Standardizes numbers, replaces missing ones by the mean and applies layers with ReLU.

    The numeric columns are the first of a matrix, as many as the scaling has. The others are 0 or
    1 and stay as they are.
    """

    offset: Tensor
    factor: Tensor

    def __init__(self, scaling: MinMaxScaling, n_features: int, seed: int) -> None:
        super().__init__()
        self.register_buffer("offset", torch.from_numpy(scaling.offset))
        self.register_buffer("factor", torch.from_numpy(scaling.factor))
        with torch.random.fork_rng(devices=[]):  # torch's layers take no generator
            torch.manual_seed(seed)
            self.first = nn.Linear(n_features, HIDDEN_WIDTHS[0])
            self.hidden = nn.ModuleList(map(nn.Linear, HIDDEN_WIDTHS[:-1], HIDDEN_WIDTHS[1:]))
            self.last = nn.Linear(HIDDEN_WIDTHS[-1], 1)

    def state(self) -> dict[str, Any]:
        """Return the number of columns and the weights."""
        return {"n_features": self.n_features, "weights": self.state_dict()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Perceptron:
        """Return a network that has been saved, for scoring."""
        weights = state["weights"]
        scaling = MinMaxScaling(weights["offset"].numpy(), weights["factor"].numpy())
        return with_weights(cls(scaling, state["n_features"], seed=0), weights)

    @property
    def n_features(self) -> int:
        """Number of columns of a matrix."""
        return self.first.in_features

    @property
    def n_numeric(self) -> int:
        """Number of numeric columns."""
        return len(self.offset)

    def scale(self, matrix: Tensor) -> Tensor:
        """Return rows (rows, features) of doubles as inputs of the first layer, in floats."""
        numbers, others = matrix[:, : self.n_numeric], matrix[:, self.n_numeric :]
        return torch.cat([self.scale_numbers(numbers), others.float()], 1)

    def scale_numbers(self, numbers: Tensor) -> Tensor:
        """Return numbers, nan where missing, in standard deviations from the mean."""
        scaled: Tensor = scale_values(numbers, self.offset, self.factor)
        scaled = scaled.masked_fill(numbers.isnan(), 0.0)
        return scaled.clamp(-MAX_STANDARD_SCALED, MAX_STANDARD_SCALED).float()

    def forward(self, scaled: Tensor) -> Tensor:
        """Map scaled rows (rows, features) to one number each."""
        return self.apply_rest(self.first(scaled))

    def apply_rest(self, hidden: Tensor) -> Tensor:
        """Apply everything after the first linear map."""
        for layer in self.hidden:
            hidden = layer(F.relu(hidden))
        output: Tensor = self.last(F.relu(hidden))
        return output[:, 0]


def standard_scaling(numbers: Floats) -> MinMaxScaling:
    """Return the scaling to mean 0 and standard deviation 1; missing values are ignored.

    >>> found = standard_scaling(np.array([[1.0], [3.0], [np.nan]]))
    >>> found.transform(np.array([[3.0], [99.0]])).ravel().tolist()
    [1.0, 10.0]
    """
    unit = MinMaxScaling.fit(numbers)  # first, since moments of large numbers overflow
    known = np.ma.masked_invalid(unit.transform(numbers))
    mean, deviation = known.mean(axis=0).filled(0.0), known.std(axis=0).filled(0.0)
    factor = unit.factor / np.where(deviation > 0, deviation, 1.0)
    return MinMaxScaling(unit.offset + mean / unit.factor, factor, MAX_STANDARD_SCALED)
