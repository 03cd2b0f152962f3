"""The optimiser loop of all deep detectors.

Warm-up, polarization and the baselines differ in their steps: which rows, which risk. The loop
makes one update per step and yields the step afterwards, so that callers can evaluate the model
between updates.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from imboost.arrays import Indices
from imboost.training.scaled_rows import ScaledRows
from imboost.training.update_graphs import Updates

Model = TypeVar("Model")

Inputs = tuple[Tensor, ...]
"""Tensors that differ between two updates with the same objective, such as noise."""


class Objective(NamedTuple, Generic[Model]):
    """The risk of an update, and the inputs that it needs besides the batch.

    `draw` draws the inputs on the CPU, given the model, the rows of the batch and a noise source.
    `risk` computes the risk (members,), given the model, the batch (features, rows) and the inputs
    on its device. On a GPU it is captured once and replayed, so it must not draw numbers or depend
    on values of tensors.
    """

    draw: Callable[[Model, Indices, torch.Generator], Inputs]
    risk: Callable[..., Tensor]


class Step(NamedTuple, Generic[Model]):
    """One update: its rows, the risk to minimise and its epoch.

    All members train on the same rows; they differ in initial weights and latent noise. A risk
    that copies values to the CPU cannot be captured in a CUDA graph.
    """

    rows: Indices
    objective: Objective[Model]
    epoch: int
    ends_epoch: bool
    can_capture: bool = True


def make_optimiser(
    model: nn.Module, learning_rate: float, weight_decay: float
) -> torch.optim.Optimizer:
    """Return an Adam optimiser; a model keeps it over all rounds."""
    parameters = list(model.parameters())
    return torch.optim.Adam(
        parameters,
        lr=learning_rate,
        weight_decay=weight_decay,
        fused=True,
        capturable=parameters[0].is_cuda,
    )


def train(
    model: Model,
    optimiser: torch.optim.Optimizer,
    rows: ScaledRows,
    steps: Iterable[Step[Model]],
    generator: torch.Generator,
) -> Iterator[Step[Model]]:
    """Make one update per step and yield the step after it."""

    def draw(step: Step[Model]) -> Inputs:
        return torch.from_numpy(step.rows), *step.objective.draw(model, step.rows, generator)

    def update(objective: Objective[Model], index: Tensor, *inputs: Tensor) -> None:
        risk = objective.risk(model, rows.take(index), *inputs)  # (members,)
        optimiser.zero_grad()
        # The members share no parameter, so the gradient of the sum is each one's own.
        torch.autograd.backward(risk.sum())
        optimiser.step()

    updates = Updates(draw, update, rows.device)
    for step in steps:
        with one_thread():
            updates.make(step)
        yield step


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one CPU thread, so that results do not depend on the number of cores.

    Matrix products round differently on several threads. In a score that is the last digit; in
    training, hundreds of updates amplify it.
    """
    thread = threading.get_ident()
    if thread in _limited:
        yield
        return
    with _lock:
        # Torch's number cannot be read while another thread is inside: a thread begins with the
        # number that was last set in any of them.
        _limited[thread] = next(iter(_limited.values()), 0) or torch.get_num_threads()
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            torch.set_num_threads(_limited.pop(thread))


_lock = threading.Lock()
_limited: dict[int, int] = {}
"""The threads inside of `one_thread`, and the number of torch's threads outside."""


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


def epoch_steps(
    schedule: Schedule,
    epochs: range,
    pool: int | Indices,
    rng: np.random.Generator,
    objective_at: Callable[[int], Objective[Model]],
) -> Iterator[Step[Model]]:
    """Yield the steps of `epochs`, with the batch size and objective of each epoch."""
    n_rows = pool if isinstance(pool, int) else len(pool)
    for epoch in epochs:
        objective = objective_at(epoch)
        size = schedule.batch_size_at(epoch, n_rows)
        for update in range(1, schedule.updates_per_epoch + 1):
            rows = draw_batch(pool, size, rng)
            ends_epoch = update == schedule.updates_per_epoch
            yield Step(rows, objective, epoch, ends_epoch)
