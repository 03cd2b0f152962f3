"""Base class of Deep SVDD and Deep SAD: an autoencoder, and a hypersphere of its codes."""

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
from torch import Tensor, nn

from imboost.arrays import Floats, Indices
from imboost.detectors.base import COUNT, COUNT_OR_ZERO, POSITIVE
from imboost.detectors.deep.generative import NetworkDetector
from imboost.labels import Labels
from imboost.models.ensemble_layers import HiddenLayer, uniform_weight
from imboost.models.mlp_vae import Widths
from imboost.training.loop import Objective, Step, make_optimiser, one_thread, train
from imboost.training.scaled_rows import ScaledRows

MIN_WIDTHS = Widths(outer=128, inner=64, latent=32)
"""Narrower encoders, as the VAE has on tables of few columns, find fewer outliers: a mean AUC of
0.67 instead of 0.74 over 16 tables without labels."""

MIN_CENTRE = 0.1
"""Smallest absolute coordinate of the centre: all-zero weights map every row to 0, a trivial
solution if the centre were there."""

FIRST_STAGE = 1  # stage of one-class training in `fit`; stage 0 is the pre-training

Model = TypeVar("Model")
Rng = np.random.Generator
Steps = Iterator[Step["Hypersphere"]]


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


class MLPEncoder(nn.Module):
    """An ensemble of two-layer perceptrons without biases, from rows to latent codes."""

    def __init__(self, n_features: int, generator: torch.Generator, n_members: int) -> None:
        super().__init__()
        width = _widths(n_features)
        self.outer = HiddenLayer(n_members, n_features, width.outer, generator)
        self.inner = HiddenLayer(n_members, width.outer, width.inner, generator)
        self.code = uniform_weight(n_members, width.latent, width.inner, generator)

    def forward(self, x: Tensor, *, batch_statistics: bool) -> Tensor:
        """Map (features, rows) to codes (members, latent, rows)."""
        hidden = self.inner(self.outer(x, batch_statistics), batch_statistics)
        return torch.matmul(self.code, hidden)


class MLPAutoencoder(nn.Module):
    """An encoder and a mirrored decoder, for pre-training."""

    def __init__(self, n_features: int, generator: torch.Generator, n_members: int) -> None:
        super().__init__()
        width = _widths(n_features)
        self.encoder = MLPEncoder(n_features, generator, n_members)
        self.inner = HiddenLayer(n_members, width.latent, width.inner, generator)
        self.outer = HiddenLayer(n_members, width.inner, width.outer, generator)
        self.output = uniform_weight(n_members, n_features, width.outer, generator)

    def reconstruct(self, x: Tensor) -> Tensor:
        """Return the decoded rows: (members, features, rows)."""
        code = self.encoder(x, batch_statistics=True)
        hidden = self.outer(self.inner(code, True), True)
        return torch.sigmoid(torch.matmul(self.output, hidden))


class Hypersphere(nn.Module):
    """A pre-trained encoder and c, the fixed centre (members, latent) of the codes of inliers."""

    centre: Tensor

    def __init__(self, encoder: MLPEncoder, centre: Tensor) -> None:
        super().__init__()
        self.encoder = encoder
        self.register_buffer("centre", centre.unsqueeze(-1))
        self.bias = nn.Parameter(torch.zeros(len(centre), device=centre.device))
        """Intercept of the noise-contrastive logistic loss, (members,)."""

    @property
    def n_members(self) -> int:
        """Models of the ensemble."""
        return len(self.centre)

    def distances(self, x: Tensor, *, batch_statistics: bool) -> Tensor:
        """Return the squared distances of rows (features, rows) to the centre: (members, rows)."""
        code = self.encoder(x, batch_statistics=batch_statistics)
        squared: Tensor = (code - self.centre).square().sum(1)
        return squared


def away_from_zero(centre: Tensor) -> Tensor:
    """Move coordinates near 0 to `MIN_CENTRE`, keeping their signs.

    >>> away_from_zero(torch.tensor([0.5, -0.01, 0.0]))
    tensor([ 0.5000, -0.1000,  0.1000])
    """
    sign = torch.where(centre < 0, -1.0, 1.0)
    return torch.where(centre.abs() < MIN_CENTRE, sign * MIN_CENTRE, centre)


def _widths(n_features: int) -> Widths:
    return max(Widths.for_features(n_features), MIN_WIDTHS, key=lambda width: width.outer)
