"""Deep SVDD: one-class or soft-boundary, with or without a noise-contrastive loss on labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from imboost.arrays import Indices
from imboost.detectors.base import COUNT_OR_ZERO, FRACTION, NOT_NEGATIVE
from imboost.errors import UnknownNameError
from imboost.labels import INLIER, OUTLIER, Labels
from imboost.training.loop import Inputs, Objective, draw_at_most
from imboost.training.scaled_rows import ScaledRows
from imboost.training.warmup import loss_quantile
from imboost.validation import check_number
from imboost_bench.baselines.one_class import (
    FIRST_STAGE,
    Hypersphere,
    OneClassDetector,
    Rng,
    Steps,
)


class ObjectiveSettings(NamedTuple):
    """The parts of an objective, and the learning rate that suits it."""

    has_boundary: bool
    is_contrastive: bool
    learning_rate: float


OBJECTIVES = {
    # At the others' learning rate one-class training alone collapses: all codes become equal.
    "oc": ObjectiveSettings(has_boundary=False, is_contrastive=False, learning_rate=1e-4),
    "sb": ObjectiveSettings(has_boundary=True, is_contrastive=False, learning_rate=1e-3),
    "oc-nce": ObjectiveSettings(has_boundary=False, is_contrastive=True, learning_rate=1e-3),
    "sb-nce": ObjectiveSettings(has_boundary=True, is_contrastive=True, learning_rate=1e-3),
}


@dataclass(kw_only=True, eq=False, repr=False)
class DeepSVDD(OneClassDetector):
    """Deep support vector data description, and its active variants.

    An autoencoder is pre-trained; then its encoder is trained to map the rows close to a centre,
    the mean of their codes. The score of a row is its squared distance from the centre. The
    objective "oc" pulls all rows towards the centre (one-class), "sb" only those outside a
    hypersphere (soft boundary); labelled outliers are excluded. With "-nce", a noise-contrastive
    logistic loss on the distances separates labelled inliers from labelled outliers. The settings
    are in docs/reference.md.

    References
    ----------
    Ruff et al., "Deep One-Class Classification", ICML 2018.
    Kim et al., "Active anomaly detection based on deep one-class classification", Pattern
    Recognition Letters 2023.
    """

    default_query = "ab"

    objective: str = "oc-nce"
    outside: float = field(default=0.3, metadata=FRACTION)
    boundary_epochs: int = field(default=10, metadata=COUNT_OR_ZERO)
    contrastive_weight: float = field(default=1.0, metadata=NOT_NEGATIVE)
    learning_rate: float | None = None  # type: ignore[assignment]

    def _check_settings(self) -> None:
        if self.objective not in OBJECTIVES:
            raise UnknownNameError("objective", str(self.objective), OBJECTIVES)
        super()._check_settings()
        check_number("learning_rate", self._learning_rate, above=0.0)

    @property
    def _learning_rate(self) -> float:
        own = OBJECTIVES[self.objective].learning_rate
        return own if self.learning_rate is None else self.learning_rate

    def _steps(self, rows: ScaledRows, labels: Labels, n_epochs: int, rng: Rng) -> Steps:
        pool = np.flatnonzero(labels != OUTLIER)
        if len(pool) < 2:  # batch normalisation needs two rows
            pool = np.arange(len(labels))
        n_before = n_epochs
        if OBJECTIVES[self.objective].has_boundary:
            is_first = self._stage == FIRST_STAGE
            n_before = min(self.boundary_epochs, n_epochs) if is_first else 0
        soft = partial(soft_boundary_risk, outside=self.outside)
        for n, risk in ((n_before, one_class_risk), (n_epochs - n_before, soft)):
            yield from self._passes(pool, n, rng, self._objective(rows, labels, rng, risk))

    def _objective(
        self, rows: ScaledRows, labels: Labels, rng: Rng, risk: Callable[[Tensor], Tensor]
    ) -> Objective[Hypersphere]:
        """Return the risk of unlabelled rows and inliers, with a contrast if there are labels."""
        weight = self.contrastive_weight if OBJECTIVES[self.objective].is_contrastive else 0.0
        inliers, outliers = np.flatnonzero(labels == INLIER), np.flatnonzero(labels == OUTLIER)
        contrasts = weight > 0 and len(inliers) + len(outliers) > 0

        def draw(_: Hypersphere, __: Indices, ___: torch.Generator) -> Inputs:
            if not contrasts:
                return ()
            known = [draw_at_most(own, self.batch_size, rng) for own in (inliers, outliers)]
            return (torch.from_numpy(np.concatenate(known)),)

        def total_risk(model: Hypersphere, x: Tensor, *labelled: Tensor) -> Tensor:
            total = risk(model.distances(x, batch_statistics=True))
            for index in labelled:  # inliers first
                n_inliers = min(len(inliers), self.batch_size)
                is_outlier = torch.arange(len(index), device=x.device) >= n_inliers
                distances = model.distances(rows.take(index), batch_statistics=False)
                total = total + weight * contrastive_risk(distances, is_outlier, model.bias)
            return total

        return Objective(draw, total_risk)


def one_class_risk(distances: Tensor) -> Tensor:
    """Mean squared distance to the centre (one-class Deep SVDD)."""
    return distances.mean(-1)


def soft_boundary_risk(distances: Tensor, outside: float) -> Tensor:
    """Squared radius plus the mean excess over it, divided by nu (soft-boundary Deep SVDD).

    The squared radius is the quantile that a fraction `outside` (nu) of the batch exceeds. It is
    not trained.
    """
    radius = loss_quantile(distances, 1.0 - outside)  # squared, (members,)
    beyond = F.relu(distances - radius.unsqueeze(-1))
    return radius + beyond.mean(-1) / outside


def contrastive_risk(distances: Tensor, is_outlier: Tensor, bias: Tensor) -> Tensor:
    """Noise-contrastive logistic loss: labelled inliers are the data, labelled outliers the noise.

    The log-odds of being data are ``bias - distance`` (noise-contrastive estimation
    with a density that decreases with the distance). Both classes have the same weight.
    `distances` is (members, rows), `is_outlier` (rows,) and `bias` (members,).
    """
    log_odds = bias.unsqueeze(-1) - distances
    data, noise = F.softplus(-log_odds), F.softplus(log_odds)
    outliers = is_outlier.to(log_odds)
    inliers = 1.0 - outliers
    data_risk = (data * inliers).sum(-1) / inliers.sum().clamp(min=1)
    noise_risk = (noise * outliers).sum(-1) / outliers.sum().clamp(min=1)
    return data_risk + noise_risk
