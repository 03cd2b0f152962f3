"""Deep SAD: Deep SVDD with an inverse-distance loss for labelled outliers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from imboost.arrays import Indices
from imboost.detectors.base import NOT_NEGATIVE
from imboost.labels import OUTLIER, UNLABELLED, Labels
from imboost.training.loop import Inputs, Objective
from imboost.training.scaled_rows import ScaledRows
from imboost_bench.baselines.one_class import Hypersphere, OneClassDetector, Rng, Steps

MIN_DISTANCE = 1e-6
"""Added to squared distances before inverting them."""


@dataclass(kw_only=True, eq=False, repr=False)
class DeepSAD(OneClassDetector):
    """Deep semi-supervised outlier detection.

    Like one-class `DeepSVDD`, but the loss of a labelled outlier is the inverse of its squared
    distance from the centre, which pushes it away. The settings are in docs/reference.md.

    References
    ----------
    Ruff et al., "Deep Semi-Supervised Anomaly Detection", ICLR 2020.
    """

    default_query = "hc"

    label_weight: float = field(default=1.0, metadata=NOT_NEGATIVE)

    def _steps(self, rows: ScaledRows, labels: Labels, n_epochs: int, rng: Rng) -> Steps:
        def draw(_: Hypersphere, batch: Indices, __: torch.Generator) -> Inputs:
            return (torch.from_numpy(labels[batch]),)

        def risk(model: Hypersphere, x: Tensor, known: Tensor) -> Tensor:
            distances = model.distances(x, batch_statistics=True)
            return deep_sad_risk(distances, known, self.label_weight)

        return self._passes(np.arange(len(labels)), n_epochs, rng, Objective(draw, risk))


def deep_sad_risk(distances: Tensor, labels: Tensor, weight: float) -> Tensor:
    """Mean squared distance, inverted for labelled outliers; labelled rows have `weight` eta."""
    inverse = 1.0 / (distances + MIN_DISTANCE)
    terms = torch.where(labels == OUTLIER, inverse, distances)
    weights = torch.where(labels == UNLABELLED, 1.0, weight)
    return (terms * weights).mean(-1)
