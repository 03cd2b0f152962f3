"""Base class of Deep SVDD and Deep SAD."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imboost.arrays import Floats, Indices
from imboost.detectors.base import COUNT, COUNT_OR_ZERO, POSITIVE
from imboost.detectors.deep.generative import NetworkDetector
from imboost.labels import Labels
from imboost.training.loop import Objective, Step, make_optimiser, one_thread, train
from imboost.training.scaled_rows import ScaledRows
from imboost_bench.baselines.hypersphere import Hypersphere, MLPAutoencoder, away_from_zero

FIRST_STAGE = 1  # stage of one-class training in `fit`; stage 0 is the pre-training

Model = TypeVar("Model")
Rng = np.random.Generator
Steps = Iterator[Step[Hypersphere]]


def split_batches(pool: Indices, size: int, max_batches: int, rng: Rng) -> list[Indices]:
    """Shuffle `pool` and split it into batches of nearly equal size, at most `max_batches`.

    >>> rng = np.random.default_rng(0)
    >>> [len(batch) for batch in split_batches(np.arange(10), 4, 100, rng)]
    [4, 3, 3]
    >>> [len(batch) for batch in split_batches(np.arange(10), 4, 2, rng)]
    [5, 5]
    """
    n_batches = min(math.ceil(len(pool) / size), max_batches)
    return np.array_split(rng.permutation(pool), n_batches)


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassDetector(NetworkDetector):
    """Pre-trains an autoencoder, then trains its encoder with a one-class loss."""

    pretrain_epochs: int = field(default=100, metadata=COUNT_OR_ZERO)
    pretrain_learning_rate: float = field(default=1e-3, metadata=POSITIVE)
    train_epochs: int = field(default=50, metadata=COUNT)
    round_epochs: int = field(default=10, metadata=COUNT)
    max_batches: int = field(default=100, metadata=COUNT)

    @property
    def _learning_rate(self) -> float:
        """The learning rate of one-class training."""
        return self.learning_rate

    @abstractmethod
    def _steps(self, rows: ScaledRows, labels: Labels, n_epochs: int, rng: Rng) -> Steps:
        """Return the steps of stage `_stage` of training, with the current labels."""

    def _passes(
        self, pool: Indices, n_epochs: int, rng: Rng, objective: Objective[Model]
    ) -> Iterator[Step[Model]]:
        """Yield the steps of epochs that are full passes over the rows of `pool`."""
        for epoch in range(n_epochs):
            batches = split_batches(pool, self.batch_size, self.max_batches, rng)
            for number, rows in enumerate(batches, start=1):
                yield Step(rows, objective, epoch, number == len(batches))

    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        rows = self._prepare(X)
        self._model = self._pretrained(rows)
        self._optimiser = make_optimiser(self._model, self._learning_rate, self.weight_decay)
        self._stage = FIRST_STAGE
        self._train_one_class(rows, labels, self.train_epochs)

    def _refine(self, X: NDArray[Any], labels: Labels) -> None:
        self._train_one_class(self._rows(X), labels, self.round_epochs)

    def _pretrained(self, rows: ScaledRows) -> Hypersphere:
        """Pre-train the autoencoder and set the centre to the mean of its codes."""

        def squared_error(model: MLPAutoencoder, x: Tensor) -> Tensor:
            return (model.reconstruct(x) - x).square().sum(1).mean(-1)

        rng, generator = self._random_sources(stage=0)
        model = MLPAutoencoder(self.n_features_in_, generator, self.n_members).to(self._device)
        optimiser = make_optimiser(model, self.pretrain_learning_rate, self.weight_decay)
        objective: Objective[MLPAutoencoder] = Objective(lambda *_: (), squared_error)
        steps = self._passes(np.arange(len(rows)), self.pretrain_epochs, rng, objective)
        self._report(f"autoencoder: {self.pretrain_epochs} epochs on {len(rows)} rows")
        for _ in train(model, optimiser, rows, steps, generator):
            pass
        with torch.inference_mode(), one_thread():
            total = sum(
                model.encoder(x, batch_statistics=False).sum(-1)
                for _, x in rows.chunks(self.n_members, torch.float32)
            )
        centre = away_from_zero(torch.as_tensor(total) / len(rows))
        return Hypersphere(model.encoder, centre.clone()).to(self._device)

    def _train_one_class(self, rows: ScaledRows, labels: Labels, n_epochs: int) -> None:
        rng, generator = self._random_sources(self._stage)
        self._report(f"one-class training: {n_epochs} epochs")
        steps = self._steps(rows, labels, n_epochs, rng)
        for _ in train(self._model, self._optimiser, rows, steps, generator):
            pass
        self._stage += 1
        # Double precision, rounded to single: the last digits depend on the batch of a row.
        self._scorer = copy.deepcopy(self._model).double().requires_grad_(False)

    @torch.inference_mode()
    def _score_rows(self, X: NDArray[Any]) -> Floats:
        scores = np.empty(len(X), dtype=np.float32)
        for part, x in self._rows(X).chunks(self.n_members, torch.float64):
            distances = self._scorer.distances(x, batch_statistics=False)  # (members, rows)
            scores[part] = distances.mean(0).cpu().numpy()
        return scores.astype(np.float64)
