"""Base class of Deep SVDD and Deep SAD."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from imboost.detectors.deep.network import NetworkDetector
from imboost.labels import Labels
from imboost.models.hypersphere import Hypersphere, MLPAutoencoder, away_from_zero
from imboost.training.batches import MiniBatches
from imboost.training.loop import Step, make_optimiser, one_thread, train
from imboost.training.one_class import reconstruction_steps
from imboost.training.scaled_rows import ScaledRows
from imboost.validation import check_number

FIRST_STAGE = 1  # of one-class training, in `fit`; stage 0 is the pre-training


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassDetector(NetworkDetector):
    """Pre-trains an autoencoder, then trains its encoder with a one-class loss."""

    pretrain_epochs: int = 100
    pretrain_learning_rate: float = 1e-3
    train_epochs: int = 50
    round_epochs: int = 10
    max_batches: int = 100

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("pretrain_epochs", self.pretrain_epochs, minimum=0, whole=True)
        check_number("pretrain_learning_rate", self.pretrain_learning_rate, above=0.0)
        check_number("train_epochs", self.train_epochs, minimum=1, whole=True)
        check_number("round_epochs", self.round_epochs, minimum=1, whole=True)
        self._mini_batches.check()

    @property
    def _mini_batches(self) -> MiniBatches:
        return MiniBatches(self.batch_size, self.max_batches)

    @abstractmethod
    def _steps(
        self,
        rows: ScaledRows,
        labels: Labels,
        n_epochs: int,
        rng: np.random.Generator,
        *,
        is_first: bool,
    ) -> Iterator[Step[Hypersphere]]:
        """Return the steps of one-class training with the current labels."""

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
        is_first = self._stage == FIRST_STAGE
        self._stage += 1
        self._report(f"one-class training: {n_epochs} epochs")
        steps = self._steps(rows, labels, n_epochs, rng, is_first=is_first)
        for _ in train(self._model, self._optimiser, rows, steps, generator):
            pass
        # Double precision, rounded to single: the last digits depend on the batch of a row.
        self._scorer = copy.deepcopy(self._model).double().requires_grad_(False)

    @torch.inference_mode()
    def _score_rows(self, X: NDArray[Any]) -> NDArray[np.float64]:
        rows = self._rows(X)
        scores = np.empty(len(rows), dtype=np.float32)
        for part, x in rows.chunks(self.n_members, torch.float64):
            distances = self._scorer.distances(x, batch_statistics=False)  # (members, rows)
            scores[part] = distances.mean(0).cpu().numpy()
        return scores.astype(np.float64)
