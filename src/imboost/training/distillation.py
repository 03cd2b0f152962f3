"""A small network, and its regression on the log-odds of a teacher."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from imboost.arrays import Floats
from imboost.models.ensemble_layers import with_weights
from imboost.stats.scaling import MAX_STANDARD_SCALED, MinMaxScaling, scale_values
from imboost.training.loop import one_thread

HIDDEN_WIDTHS = (96, 96, 96)
N_UPDATES = 3000
BATCH_SIZE = 256
LEARNING_RATE, WEIGHT_DECAY = 2e-3, 0.1  # of AdamW; the peak of a one-cycle schedule
WARMUP_FRACTION = 0.1  # of the updates, until the learning rate has its peak
CHUNK_ROWS = 256
"""Rows of one forward pass. The last chunk is filled up: matrix products of another size may round
differently, and the score of a row must not depend on the number of rows."""


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
        return {"n_features": self.first.in_features, "weights": self.state_dict()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Perceptron:
        """Return a network that has been saved, for scoring."""
        weights = state["weights"]
        scaling = MinMaxScaling(weights["offset"].numpy(), weights["factor"].numpy())
        return with_weights(cls(scaling, state["n_features"], seed=0), weights)

    def scale(self, matrix: Tensor) -> Tensor:
        """Return rows (rows, features) of doubles as inputs of the first layer, in floats."""
        n_numeric = len(self.offset)
        numbers, others = matrix[:, :n_numeric], matrix[:, n_numeric:]
        scaled: Tensor = scale_values(numbers, self.offset, self.factor)
        scaled = scaled.masked_fill(numbers.isnan(), 0.0)
        scaled = scaled.clamp(-MAX_STANDARD_SCALED, MAX_STANDARD_SCALED).float()
        return torch.cat([scaled, others.float()], 1)

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


def fit_student(
    rows: Floats, targets: Floats, weights: Floats, scaling: MinMaxScaling, seed: int
) -> Perceptron:
    """Minimise the weighted squared error, and put the unit of the targets into the network."""
    network = Perceptron(scaling, rows.shape[1], seed)
    center, scale = float(targets.mean()), float(targets.std()) or 1.0
    x = network.scale(torch.from_numpy(rows))
    y = torch.from_numpy((targets - center) / scale).float()
    weight = torch.from_numpy(weights).float()
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, LEARNING_RATE, N_UPDATES, pct_start=WARMUP_FRACTION
    )
    generator = torch.Generator().manual_seed(seed)
    with one_thread():
        for _ in range(N_UPDATES):
            batch = torch.randint(len(x), (BATCH_SIZE,), generator=generator)
            risk = (weight[batch] * (network(x[batch]) - y[batch]).square()).mean()
            optimiser.zero_grad()
            torch.autograd.backward(risk)
            optimiser.step()
            schedule.step()
    with torch.no_grad():
        network.last.weight.mul_(scale)
        network.last.bias.mul_(scale).add_(center)
    return network.requires_grad_(False)


@torch.inference_mode()
def predict_log_odds(network: Perceptron, X: NDArray[Any]) -> Floats:
    """Return the output of the network for every row of an encoded matrix."""
    found = np.empty(len(X))
    with one_thread():  # the chunks are too small for several
        for start in range(0, len(X), CHUNK_ROWS):
            rows = np.ascontiguousarray(X[start : start + CHUNK_ROWS], dtype=np.float64)
            chunk = network.scale(torch.from_numpy(rows))
            n_rows = len(chunk)
            if n_rows < CHUNK_ROWS:
                chunk = F.pad(chunk, (0, 0, 0, CHUNK_ROWS - n_rows))
            found[start : start + n_rows] = network(chunk)[:n_rows].numpy()
    return found
