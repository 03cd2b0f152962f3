"""The optimiser loop of all deep detectors.

Warm-up, polarization and the baselines differ in their steps: which rows, which risk. The loop
makes one update per step and yields the step afterwards, so that callers can evaluate the model
between updates.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from imboost.arrays import Indices
from imboost.training.batches import Schedule, draw_batch
from imboost.training.scaled_rows import ScaledRows
from imboost.training.update_graphs import Updates

Model = TypeVar("Model")

Inputs = tuple[Tensor, ...]
"""Tensors that differ between two updates with the same objective, such as noise."""


class Objective(NamedTuple, Generic[Model]):
    """The risk of an update, and the inputs that it needs besides the batch.

    On a GPU the computation of the risk is captured once and replayed, so it must not draw numbers
    or depend on values of tensors.

    Parameters
    ----------
    draw : callable
        Draws the inputs on the CPU, given the model, the rows of the batch and a noise source. In
        a batch that may be padded, the first input is the noise of its rows.
    risk : callable
        Computes the risk (members,), given the model, the batch (features, rows), the inputs
        on its device and `is_row` (rows,): false for padding, None if there is none.
    """

    draw: Callable[[Model, Indices, torch.Generator], Inputs]
    risk: Callable[..., Tensor]


class Step(NamedTuple, Generic[Model]):
    """One update: its rows, the risk to minimise and its epoch.

    All members train on the same rows; they differ in initial weights and latent noise. A CUDA
    graph has batches of one size, `padded_size`; a risk that copies values to the CPU cannot be
    captured.
    """

    rows: Indices
    objective: Objective[Model]
    epoch: int
    ends_epoch: bool
    padded_size: int
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

    def update(
        objective: Objective[Model], index: Tensor, *inputs: Tensor, is_row: Tensor | None = None
    ) -> None:
        risk = objective.risk(model, rows.take(index), *inputs, is_row=is_row)  # (members,)
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
    if getattr(_thread, "is_limited", False):
        yield
        return
    _outside.enter()
    _thread.is_limited = True
    try:
        yield
    finally:
        _thread.is_limited = False
        _outside.leave()


class _Outside:
    """The number of torch's threads outside of `one_thread`.

    It cannot be read while another thread is inside: a thread begins with the number that was
    last set in any of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._n_threads = 1

    def enter(self) -> None:
        """Set one thread, for the calling thread and those that begin meanwhile."""
        with self._lock:
            if self._n_inside == 0:
                self._n_threads = torch.get_num_threads()
            self._n_inside += 1
            torch.set_num_threads(1)

    def leave(self) -> None:
        """Set the number for the calling thread and those that begin later."""
        with self._lock:
            self._n_inside -= 1
            torch.set_num_threads(self._n_threads)


_thread = threading.local()
_outside = _Outside()


def epoch_steps(
    schedule: Schedule,
    epochs: range,
    pool: int | Indices,
    rng: np.random.Generator,
    objective_at: Callable[[int], Objective[Model]],
) -> Iterator[Step[Model]]:
    """Yield the steps of `epochs`, with the batch size and objective of each epoch."""
    n_rows = pool if isinstance(pool, int) else len(pool)
    padded_size = max((schedule.batch_size_at(epoch, n_rows) for epoch in epochs), default=0)
    for epoch in epochs:
        objective = objective_at(epoch)
        size = schedule.batch_size_at(epoch, n_rows)
        for update in range(1, schedule.updates_per_epoch + 1):
            rows = draw_batch(pool, size, rng)
            ends_epoch = update == schedule.updates_per_epoch
            yield Step(rows, objective, epoch, ends_epoch, padded_size)
