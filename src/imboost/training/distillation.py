"""Regression of a student network on the log-odds of its teacher."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from imboost.arrays import Floats
from imboost.models.perceptron import Perceptron
from imboost.training.loop import one_thread

N_UPDATES = 3000
BATCH_SIZE = 256
LEARNING_RATE, WEIGHT_DECAY = 2e-3, 0.1  # of AdamW; the peak of a one-cycle schedule
WARMUP_FRACTION = 0.1  # of the updates, until the learning rate has its peak
CHUNK_ROWS = 256
"""Rows of one forward pass. The last chunk is filled up: matrix products of another size may round
differently, and the score of a row must not depend on the number of rows."""


def fit_student(
    network: Perceptron,
    rows: Floats,
    targets: Floats,
    weights: Floats,
    seed: int,
) -> None:
    """Minimise the weighted squared error, and put the unit of the targets into the network.

    Parameters
    ----------
    network : Perceptron
    rows : array of shape (n_rows, n_features)
    targets, weights : array of shape (n_rows,)
    seed : int
        Of the batches.
    """
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
    network.requires_grad_(False)


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
