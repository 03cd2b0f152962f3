"""Record how each update of IMBoost changes the risks of true inliers and outliers.

This is the paper's figure 2. Training itself only sees the answered labels. The measurements
between the updates leave the model and the random numbers unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from pandas import DataFrame
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from imboost.arrays import Floats, Indices
from imboost.datasets.dataset import Dataset
from imboost.detectors import IMBoost
from imboost.labels import INLIER, OUTLIER, Labels, unlabelled
from imboost.models.backbone import Backbone
from imboost.models.bounds import iwae
from imboost.session import Oracle, Session, run_rounds
from imboost.training.loop import Step
from imboost.training.scaled_rows import ScaledRows
from imboost.training.warmup import kept_rows
from imboost_bench.run.protocol import RunSpec, split_for
from imboost_bench.run.settings import split_settings

MAX_MEASURED_ROWS = 5_000
"""Rows of each class whose risk is measured; larger classes are sampled once."""
GRADIENT_ROWS = 16
"""Rows of each class, those with the highest losses, whose own gradients are measured."""

CHANGES = ("inlier_gradient_change", "outlier_gradient_change")

VARIANTS = {"constant weights": "", "decaying weights": "decay_weights=True"}
"""Settings of the compared runs: the paper's experiments, and the weights of proposition 2."""


class PhaseKind(StrEnum):
    """The loss of an update: eq. 1, eq. 2 or eq. 3."""

    PLAIN = "warm-up-plain"
    TRIMMED = "warm-up-trimmed"
    POLARIZATION = "polarization"


@dataclass(frozen=True)
class Trace:
    """All updates of one run, and the numbers of training rows by class."""

    spec: RunSpec
    n_inliers: int
    n_outliers: int
    updates: DataFrame  # a row per update, with the columns of the CSV file (docs/reference.md)
    inlier_losses: NDArray[np.float32]  # of the measured inliers, (updates, inliers)

    @property
    def contamination(self) -> float:
        """Fraction of outliers in the training rows."""
        return self.n_outliers / (self.n_inliers + self.n_outliers)

    @cached_property
    def detector(self) -> IMBoost:
        """The detector with its settings, not fitted."""
        return IMBoost(**split_settings(self.spec.settings).detector)  # type: ignore[arg-type]


def count_updates(detector: IMBoost, n_rounds: int) -> int:
    """Return the number of updates in the warm-up and `n_rounds` rounds."""
    n_epochs = detector.plain_epochs + detector.trimmed_epochs + n_rounds * detector.round_epochs
    return n_epochs * detector.updates_per_epoch


def trace(
    spec: RunSpec,
    dataset: Dataset,
    device: str = "cpu",
    on_update: Callable[[], None] = lambda: None,
) -> Trace:
    """Run IMBoost with the settings of `spec` as the benchmark does, and record every update."""
    split = split_for(spec, dataset)
    detector = TracedIMBoost(**split_settings(spec.settings).detector)  # type: ignore[arg-type]
    detector.set_params(random_state=spec.seed_of("detector"), device=device)
    seed = spec.seed_of("strategy")
    session = Session(detector, split.train_X, query=spec.query, random_state=seed)
    traced = cast("TracedIMBoost", session.detector)
    traced.set_true_labels(split.train_y, on_update)
    for _ in run_rounds(session, Oracle(split.train_y), spec.rounds):
        traced = cast("TracedIMBoost", session.detector)  # every round trains a copy
    n_outliers = int((split.train_y == OUTLIER).sum())
    n_inliers = len(split.train_y) - n_outliers
    losses = np.stack(traced.inlier_losses)
    return Trace(spec, n_inliers, n_outliers, pd.DataFrame(traced.updates), losses)


class TracedIMBoost(IMBoost):
    """IMBoost that records its updates; call `set_true_labels` before `fit`."""

    def set_true_labels(
        self, y: NDArray[np.int8], on_update: Callable[[], None] = lambda: None
    ) -> None:
        """Set the true labels; `on_update` is called after every update."""
        self._truth = y
        self._on_update = on_update
        self._previous: tuple[Tensor, ...] = ()  # weights and gradients after the last update
        self.updates: list[dict[str, Any]] = []
        self.inlier_losses: list[NDArray[np.float32]] = []

    def _start(self, X: NDArray[Any]) -> ScaledRows:
        rows = super()._start(X)
        self._round, self._known = 0, unlabelled(len(X))
        rng = np.random.default_rng(self._seed)
        self._measured = [
            self._rows(X[sample_of_kind(self._truth, kind, rng)]) for kind in (INLIER, OUTLIER)
        ]
        return rows

    def _polarize(self, rows: ScaledRows, labels: Labels, n_epochs: int) -> None:
        self._round, self._known = self._round + 1, labels
        super()._polarize(rows, labels, n_epochs)

    def _run(
        self,
        rows: ScaledRows,
        steps: Iterator[Step[Backbone]],
        generator: torch.Generator,
        epochs: range,
    ) -> None:
        super()._run(rows, self._recorded(steps), generator, epochs)

    def _trim(self, losses: Tensor, threshold: Tensor) -> Tensor:
        self._is_kept = kept_rows(losses, threshold)[0].cpu().numpy()
        return super()._trim(losses, threshold)

    def _recorded(self, steps: Iterator[Step[Backbone]]) -> Iterator[Step[Backbone]]:
        """Pass the steps on; the loop asks for the next one after an update."""
        for step in steps:
            self._is_kept = np.ones(len(step.rows), dtype=bool)  # unless the loss is trimmed
            yield step._replace(can_capture=False)  # `_trim` copies to the CPU
            self.updates.append(self._measure(step))
            self._on_update()

    def _measure(self, step: Step[Backbone]) -> dict[str, Any]:
        """Return the record of the update of `step`, see `Trace`."""
        noise = self._noise.to(self._device)
        (inliers, inlier_gradient), (outliers, outlier_gradient) = (
            losses_and_gradient(self._model, rows, noise) for rows in self._measured
        )
        is_outlier = self._truth[step.rows] == OUTLIER
        losses = np.concatenate([inliers, outliers])
        self.inlier_losses.append(inliers.astype(np.float32))
        weights = parameters_to_vector(self._model.parameters()).detach().double()
        current = weights, inlier_gradient, outlier_gradient
        previous, self._previous = self._previous or (weights * math.nan,) * 3, current
        changes = [float((new - old).norm()) for new, old in zip(current, previous, strict=True)]
        is_warmup = step.epoch < self.plain_epochs + self.trimmed_epochs
        phase = PhaseKind.TRIMMED if is_warmup else PhaseKind.POLARIZATION
        return {
            "update": len(self.updates) + 1,
            "epoch": step.epoch,
            "phase": PhaseKind.PLAIN if step.epoch < self.plain_epochs else phase,
            "round": self._round,
            "batch_size": len(step.rows),
            "batch_outliers": int(is_outlier.sum()),
            "kept_inliers": int((self._is_kept & ~is_outlier).sum()),
            "kept_outliers": int((self._is_kept & is_outlier).sum()),
            "answered_inliers": int((self._known == INLIER).sum()),
            "answered_outliers": int((self._known == OUTLIER).sum()),
            "inlier_risk": float(inliers.mean()),
            "outlier_risk": float(outliers.mean()),
            "inlier_median": float(np.median(inliers)),
            "outlier_median": float(np.median(outliers)),
            "inner_product": float(inlier_gradient @ outlier_gradient),
            "inlier_gradient_norm": float(inlier_gradient.norm()),
            "outlier_gradient_norm": float(outlier_gradient.norm()),
            "loss_low": float(losses.min()),
            "loss_high": float(losses.max()),
            "outliers_below": float((outliers <= inliers.mean()).mean()),
            "largest_gradient": max(
                largest_gradient(self._model, rows, own, noise)
                for rows, own in zip(self._measured, (inliers, outliers), strict=True)
            ),
            **dict(zip(("step_norm", *CHANGES), changes, strict=True)),
        }


def sample_of_kind(y: NDArray[np.int8], kind: int, rng: np.random.Generator) -> Indices:
    """Return the rows of a class, or a random sample of `MAX_MEASURED_ROWS`, in order."""
    rows = np.flatnonzero(y == kind)
    is_small = len(rows) <= MAX_MEASURED_ROWS
    return rows if is_small else np.sort(rng.choice(rows, MAX_MEASURED_ROWS, replace=False))


def losses_and_gradient(model: Backbone, rows: ScaledRows, noise: Tensor) -> tuple[Floats, Tensor]:
    """Return the losses of all rows, as in scoring, and the gradient of their mean, flat."""
    parameters = list(model.parameters())
    losses = np.empty(len(rows))
    gradient = torch.zeros((), dtype=torch.float64, device=rows.device)
    for part, x in rows.chunks(noise.shape[2], torch.float32):
        chunk = -iwae(model.log_weights(x, noise, batch_statistics=False))  # (1, rows)
        slopes = torch.autograd.grad(chunk.sum(), parameters)
        gradient = gradient + torch.cat([slope.flatten() for slope in slopes]).double()
        losses[part] = chunk[0].detach().cpu().numpy()
    return losses, gradient / len(rows)


def largest_gradient(model: Backbone, rows: ScaledRows, losses: Floats, noise: Tensor) -> float:
    """Return the largest norm of a row's gradient, of the rows with the highest losses."""
    highest = np.argsort(losses)[-GRADIENT_ROWS:].copy()
    own = -iwae(model.log_weights(rows.take(highest), noise, batch_statistics=False))[0]  # (rows,)
    each = torch.eye(len(own), device=own.device, dtype=own.dtype)
    slopes = torch.autograd.grad(own, list(model.parameters()), each, is_grads_batched=True)
    squares = [slope.flatten(1).double().square().sum(1) for slope in slopes]  # (rows,) each
    return float(torch.stack(squares).sum(0).max().sqrt())
