"""Deep SAD: Deep SVDD with an inverse-distance loss for labelled outliers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from imboost.detectors.deep.one_class import OneClassDetector
from imboost.labels import Labels
from imboost.models.hypersphere import Hypersphere
from imboost.training.loop import Step
from imboost.training.one_class import sad_steps
from imboost.training.scaled_rows import ScaledRows
from imboost.validation import check_number


@dataclass(kw_only=True, eq=False, repr=False)
class DeepSAD(OneClassDetector):
    """Deep semi-supervised outlier detection.

    Like one-class `DeepSVDD`, but the loss of a labelled outlier is the inverse of its squared
    distance from the centre, which pushes it away.

    Parameters
    ----------
    label_weight : float
        eta, weight of a labelled row relative to an unlabelled one.
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
    learning_rate, weight_decay : float
        Settings of Adam.
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
    Ruff et al., "Deep Semi-Supervised Anomaly Detection", ICLR 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost.detectors import DeepSAD
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(DeepSAD(random_state=0).fit(rows).decision_scores_.argmax())
    0
    """

    default_query = "hc"

    label_weight: float = 1.0

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("label_weight", self.label_weight, minimum=0.0)

    def _steps(
        self,
        rows: ScaledRows,
        labels: Labels,
        n_epochs: int,
        rng: np.random.Generator,
        *,
        is_first: bool,
    ) -> Iterator[Step[Hypersphere]]:
        return sad_steps(self._mini_batches, labels, n_epochs, rng, self.label_weight)
