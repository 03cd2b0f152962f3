"""Deep SAD: Deep SVDD with an inverse-distance loss for labelled outliers."""

from __future__ import annotations

from dataclasses import dataclass, field

from imboost.detectors.base import NOT_NEGATIVE
from imboost.labels import Labels
from imboost.training.scaled_rows import ScaledRows
from imboost_bench.baselines.one_class import OneClassDetector, Rng, Steps
from imboost_bench.baselines.one_class_losses import sad_steps


@dataclass(kw_only=True, eq=False, repr=False)
class DeepSAD(OneClassDetector):
    """Deep semi-supervised outlier detection.

    Like one-class `DeepSVDD`, but the loss of a labelled outlier is the inverse of its squared
    distance from the centre, which pushes it away.

    Parameters
    ----------
    label_weight : float
        eta, weight of a labelled row relative to an unlabelled one.
    n_members, pretrain_epochs, pretrain_learning_rate, train_epochs, round_epochs, \
    learning_rate, weight_decay, batch_size, max_batches
        As in `DeepSVDD`, but the learning rate cannot be None.
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
    >>> from imboost_bench.baselines.deep_sad import DeepSAD
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(DeepSAD(random_state=0).fit(rows).decision_scores_.argmax())
    0
    """

    default_query = "hc"

    label_weight: float = field(default=1.0, metadata=NOT_NEGATIVE)

    def _steps(self, rows: ScaledRows, labels: Labels, n_epochs: int, rng: Rng) -> Steps:
        return sad_steps(self._mini_batches, labels, n_epochs, rng, self.label_weight)
