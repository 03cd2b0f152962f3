"""ALTBI: the warm-up of IMBoost alone, with scores averaged over epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from imboost.detectors.deep.generative import GenerativeDetector
from imboost.labels import Labels
from imboost.training.batches import Schedule
from imboost.training.loop import train
from imboost.training.warmup import warmup_steps
from imboost.validation import check_number


@dataclass(kw_only=True, eq=False, repr=False)
class ALTBI(GenerativeDetector):
    """Unsupervised detection by adaptive loss trimming and batch increment.

    The model trains on growing batches with a trimmed loss; the score of a row is its loss
    averaged over snapshots of the last epochs. Labels are ignored.

    Parameters
    ----------
    backbone : {"vae", "flow"}
        The generative model.
    n_members : int
        Models trained together; their scores are averaged.
    n_samples : int
        K, latent samples per row in the bound while training.
    n_score_samples : int
        Latent samples per row when scoring, see `IMBoost`.
    logvar_weight : float
        Weight of the decoder's log-variance, see `IMBoost`.
    learning_rate, weight_decay : float
        Settings of Adam.
    batch_size : int
        Rows of the first batches.
    batch_growth : float
        gamma, growth factor of the batch size per epoch once trimming starts.
    max_batch_size : int
        Largest batch size.
    plain_epochs, trimmed_epochs : int
        Epochs before and after trimming starts.
    updates_per_epoch : int
        Gradient updates per epoch, for tables of any size.
    averaged_epochs : int
        Number of last epochs that the score averages.
    trim_quantile : float
        rho, fraction of a batch in the trimmed risk.
    contamination, random_state, device, verbose
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

    batch_growth: float = 1.03
    max_batch_size: int = 20_000
    plain_epochs: int = 10
    trimmed_epochs: int = 40
    updates_per_epoch: int = 5
    averaged_epochs: int = 10
    trim_quantile: float = 0.92

    def _check_settings(self) -> None:
        super()._check_settings()
        self._schedule.check()
        check_number("averaged_epochs", self.averaged_epochs, minimum=1, whole=True)
        check_number("trim_quantile", self.trim_quantile, above=0.0, maximum=1.0)

    @property
    def _schedule(self) -> Schedule:
        return Schedule(
            batch_size=self.batch_size,
            batch_growth=self.batch_growth,
            max_batch_size=self.max_batch_size,
            plain_epochs=self.plain_epochs,
            trimmed_epochs=self.trimmed_epochs,
            updates_per_epoch=self.updates_per_epoch,
        )

    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        rows = self._start(X)
        schedule = self._schedule
        rng, generator = self._random_sources(stage=0)
        steps = warmup_steps(schedule, len(rows), rng, trim_quantile=self.trim_quantile)
        self._report(f"warm-up: {schedule.warmup_epochs} epochs on {len(rows)} rows")
        first_averaged = schedule.warmup_epochs - self.averaged_epochs
        snapshots = [
            self._snapshot()
            for step in train(self._model, self._optimiser, rows, steps, generator)
            if step.ends_epoch and step.epoch >= first_averaged
        ]
        self._freeze(snapshots)
