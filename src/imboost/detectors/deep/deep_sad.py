"""Deep SAD: labelled inliers to the centre, labelled outliers away from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from imboost.detectors.deep.one_class import OneClassDetector
from imboost.labels import Labels
from imboost.models.hypersphere import Hypersphere
from imboost.training.loop import Step
from imboost.training.one_class import sad_steps
from imboost.training.rows import Rows
from imboost.validation import check_number


@dataclass(kw_only=True, eq=False, repr=False)
class DeepSAD(OneClassDetector):
    """Deep semi-supervised outlier detection.

    As one-class `DeepSVDD`, but the loss of a labelled outlier is the inverse of its squared
    distance from the centre, which drives it away.

    Parameters
    ----------
    label_weight : float
        eta, weight of a labelled row against an unlabelled one.
    n_members : int
        Models trained together; their scores are averaged.
    pretrain_epochs : int
        Passes over the rows that train the autoencoder.
    pretrain_learning_rate : float
        Learning rate of that training.
    train_epochs : int
        Passes of one-class training in `fit`.
    round_epochs : int
        Passes of one-class training in `refine`.
    learning_rate, weight_decay : float
        Settings of Adam.
    batch_size : int
        Rows of a batch.
    max_batches : int
        Batches of a pass at most: on a large table, batches grow.
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
        rows: Rows,
        labels: Labels,
        n_epochs: int,
        rng: np.random.Generator,
        *,
        is_first: bool,
    ) -> Iterator[Step[Hypersphere]]:
        return sad_steps(self._passes, labels, n_epochs, rng, self.label_weight)
