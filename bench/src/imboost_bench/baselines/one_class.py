"""Base class of Deep SVDD and Deep SAD."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from imboost.arrays import Floats
from imboost.detectors.base import COUNT, COUNT_OR_ZERO, POSITIVE
from imboost.detectors.deep.generative import NetworkDetector
from imboost.labels import Labels
from imboost.training.loop import Step, make_optimiser, one_thread, train
from imboost.training.scaled_rows import ScaledRows
from imboost_bench.baselines.hypersphere import Hypersphere, MLPAutoencoder, away_from_zero
from imboost_bench.baselines.one_class_losses import MiniBatches, reconstruction_steps

FIRST_STAGE = 1  # stage of one-class training in `fit`; stage 0 is the pre-training

Rng = np.random.Generator
Steps = Iterator[Step[Hypersphere]]


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassDetector(NetworkDetector):
    """Pre-trains an autoencoder, then trains its encoder with a one-class loss."""

    pretrain_epochs: int = field(default=100, metadata=COUNT_OR_ZERO)
    pretrain_learning_rate: float = field(default=1e-3, metadata=POSITIVE)
    train_epochs: int = field(default=50, metadata=COUNT)
    round_epochs: int = field(default=10, metadata=COUNT)
    max_batches: int = field(default=100, metadata=COUNT)

    @property
    def _mini_batches(self) -> MiniBatches:
        return MiniBatches(self.batch_size, self.max_batches)

    @property
    def _learning_rate(self) -> float:
        """The learning rate of one-class training."""
        return self.learning_rate

    @abstractmethod
    def _steps(self, rows: ScaledRows, labels: Labels, n_epochs: int, rng: Rng) -> Steps:
        """Return the steps of stage `_stage` of training, with the current labels."""

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
        rng, generator = self._random_sources(stage=0)
        model = MLPAutoencoder(self.n_features_in_, generator, self.n_members).to(self._device)
        optimiser = make_optimiser(model, self.pretrain_learning_rate, self.weight_decay)
        steps = reconstruction_steps(self._mini_batches, len(rows), self.pretrain_epochs, rng)
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

    def _score_rows(self, X: NDArray[Any]) -> Floats:
        scores = np.empty(len(X), dtype=np.float32)
        for part, distances in self._member_distances(X):
            scores[part] = distances.mean(0).cpu().numpy()
        return scores.astype(np.float64)

    @torch.inference_mode()
    def _member_distances(self, X: NDArray[Any]) -> Iterator[tuple[slice, torch.Tensor]]:
        """Yield slices of the rows and each member's distances of them, (members, rows)."""
        for part, x in self._rows(X).chunks(self.n_members, torch.float64):
            yield part, self._scorer.distances(x, batch_statistics=False)
