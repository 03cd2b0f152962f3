"""Deep SVDD: one-class or soft-boundary, with or without a noise-contrastive loss on labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from imboost.detectors.base import COUNT_OR_ZERO, FRACTION, NOT_NEGATIVE
from imboost.errors import UnknownNameError
from imboost.labels import Labels
from imboost.training.scaled_rows import ScaledRows
from imboost.validation import check_number
from imboost_bench.baselines.one_class import FIRST_STAGE, OneClassDetector, Rng, Steps
from imboost_bench.baselines.one_class_losses import (
    Risk,
    one_class_risk,
    soft_boundary_risk,
    svdd_steps,
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
    the mean of their codes. The score of a row is its squared distance from the centre.

    Parameters
    ----------
    objective : {"oc", "sb", "oc-nce", "sb-nce"}
        "oc" pulls all rows towards the centre (one-class), "sb" only those outside a hypersphere
        (soft boundary). Labelled outliers are excluded. With "-nce", a noise-contrastive
        logistic loss on the distances separates labelled inliers from labelled outliers.
    outside : float
        nu, fraction of the rows outside the soft boundary.
    boundary_epochs : int
        Epochs of one-class training before the soft boundary is used.
    contrastive_weight : float
        Weight of the noise-contrastive loss.
    n_members : int
        Models trained together; their scores are averaged.
    pretrain_epochs : int
        Epochs of the autoencoder's pre-training.
    pretrain_learning_rate : float
        Learning rate of the pre-training.
    train_epochs : int
        Epochs of one-class training in `fit`.
    round_epochs : int
        Epochs of one-class training in `refine`.
    learning_rate : float, optional
        Learning rate of Adam; if None, 1e-4 for the objective "oc" and 1e-3 for the others.
    weight_decay : float
        Weight decay of Adam.
    batch_size : int
        Rows of a batch.
    max_batches : int
        Maximum number of batches per epoch; larger tables have larger batches.
    contamination, random_state, device, verbose
        As in `IMBoost`.

    Attributes
    ----------
    decision_scores_, query_scores_, labels_, threshold_, n_features_in_, feature_names_in_
        As in `IMBoost`; `query_scores_` is `decision_scores_`.

    References
    ----------
    Ruff et al., "Deep One-Class Classification", ICML 2018.
    Kim et al., "Active anomaly detection based on deep one-class classification", Pattern
    Recognition Letters 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost_bench.baselines.deep_svdd import DeepSVDD
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(DeepSVDD(random_state=0).fit(rows).decision_scores_.argmax())
    0
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
        objective = OBJECTIVES[self.objective]
        weight = self.contrastive_weight if objective.is_contrastive else 0.0

        def steps(n: int, risk: Risk) -> Steps:
            return svdd_steps(self._mini_batches, rows, labels, n, rng, risk, weight)

        n_before = n_epochs
        if objective.has_boundary:
            is_first = self._stage == FIRST_STAGE
            n_before = min(self.boundary_epochs, n_epochs) if is_first else 0
        yield from steps(n_before, one_class_risk)
        yield from steps(n_epochs - n_before, partial(soft_boundary_risk, outside=self.outside))
