"""ALTBI: the warm-up of IMBoost alone, with scores averaged over epochs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from imboost.detectors.base import COUNT
from imboost.detectors.deep.generative import WarmupDetector
from imboost.labels import Labels
from imboost.training.loop import train


@dataclass(kw_only=True, eq=False, repr=False)
class ALTBI(WarmupDetector):
    """Unsupervised detection by adaptive loss trimming and batch increment.

    The model trains on growing batches with a trimmed loss; the score of a row is its loss
    averaged over snapshots of the last epochs. Labels are ignored.

    Parameters
    ----------
    averaged_epochs : int
        Number of last epochs that the score averages.
    backbone, n_members, n_samples, n_score_samples, logvar_weight, decoder_batch_norm, \
    learning_rate, weight_decay, \
    batch_size, batch_growth, max_batch_size, plain_epochs, trimmed_epochs, updates_per_epoch, \
    trim_quantile, contamination, random_state, device, verbose
        As in `IMBoost`.

    Attributes
    ----------
    decision_scores_, query_scores_, labels_, threshold_, n_features_in_, feature_names_in_
        As in `IMBoost`; `query_scores_` is `decision_scores_`.

    References
    ----------
    Cho et al., "ALTBI: Constructing Improved Outlier Detection Models via Optimization of
    Inlier-Memorization Effect", AAAI 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost import ALTBI
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(ALTBI(random_state=0).fit(rows).decision_scores_.argmax())
    0
    """

    averaged_epochs: int = field(default=10, metadata=COUNT)

    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        rows = self._start(X)
        rng, generator = self._random_sources(stage=0)
        steps = self._warmup_steps(rows, rng)
        first_averaged = self._schedule.warmup_epochs - self.averaged_epochs
        snapshots = [
            self._snapshot()
            for step in train(self._model, self._optimiser, rows, steps, generator)
            if step.ends_epoch and step.epoch >= first_averaged
        ]
        self._freeze(snapshots)
