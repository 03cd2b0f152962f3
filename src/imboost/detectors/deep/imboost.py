"""IMBoost: warm-up without labels, then polarization by labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from numpy.typing import NDArray

from imboost.detectors.base import COUNT, NOT_NEGATIVE
from imboost.detectors.deep.generative import WarmupDetector
from imboost.labels import UNLABELLED, Labels
from imboost.models.backbone import Backbone
from imboost.training.loop import Step, train
from imboost.training.polarization import polarization_steps
from imboost.training.scaled_rows import ScaledRows
from imboost.training.scoring import ensembled_loss
from imboost.validation import check_number


@dataclass(kw_only=True, eq=False, repr=False)
class IMBoost(WarmupDetector):
    """Inlier-memorization-guided active outlier detection.

    Early in training, a generative model fits inliers better than outliers, because inliers are
    many and similar (inlier memorization). `fit` trains that far (warm-up, eq. 1 and 2).
    `refine` continues with labels of some rows: it decreases the loss of labelled inliers and
    increases the loss of labelled outliers (polarization, eq. 3). The score of a row is its loss.

    Parameters
    ----------
    backbone : {"vae", "flow", "diffusion"}
        The generative model: the paper's variational autoencoder, a normalising flow or a
        diffusion model.
    n_members : int
        Models trained together from different initial weights; their scores are averaged.
    n_samples : int
        K, latent samples per row in the bounds while training.
    n_score_samples : int
        Latent samples per row when scoring, divided among the members. All rows share one
        fixed draw, so that scores are reproducible.
    logvar_weight : float
        Weight of the decoder's log-variance; one half is the Gaussian density, 1 reproduces
        the paper's figures.
    decoder_batch_norm : {"joint", "per-sample"}
        Whether batch normalisation in the decoder takes the K samples of all rows as one batch,
        or each sample as a batch of its own.
    learning_rate, weight_decay : float
        Settings of Adam.
    batch_size : int
        n_0, rows of the first batches.
    batch_growth : float
        gamma, growth factor of the batch size per epoch once trimming starts.
    max_batch_size : int
        Largest batch size.
    plain_epochs : int
        T_0, warm-up epochs on the plain loss.
    trimmed_epochs : int
        T_1, warm-up epochs on the trimmed loss.
    round_epochs : int
        T_2 / T_a, epochs of polarization per `refine`, and epochs averaged in
        `query_scores_` (eq. 6).
    label_rounds : int
        Rounds of `round_epochs` of polarization if `fit` is given labels.
    updates_per_epoch : int
        Gradient updates per epoch, for tables of any size.
    trim_quantile : float
        rho, fraction of a batch in the trimmed risk (eq. 2).
    threshold_mix : float
        xi, weight of the labelled inliers' risk in the trimming threshold (eq. 5).
    inlier_weight, outlier_weight : float
        lambda_1 and lambda_2, weights of the labelled rows' risks (eq. 3).
    decay_weights : bool
        Divide both weights by gamma in every epoch of polarization, as in the theory.
    hinge_margin : float, optional
        Train labelled inliers only while their loss is above the median m of the unlabelled rows,
        and labelled outliers only while it is below ``q + hinge_margin * (q - m)``, where q is the
        rho-quantile. If all rows are labelled, m and q are those of the inliers, which are not
        bounded. Without it, as in the paper, a few answers can outweigh the table. 1 is a good
        value, best with several members.
    contamination : float or "auto"
        Fraction of the training rows that are predicted outliers. With "auto" it is estimated
        from two clusters of scores; once labels of both classes are known, the rows with a
        probability of at least 0.5 are predicted outliers.
    random_state : int, RandomState or None
        Source of all randomness; with an int, scores are reproducible.
    device : str
        "auto" (a GPU where there is one), "cpu", "cuda", ...
    verbose : bool
        Show the phases of training, which the logger "imboost" gets at the level INFO.

    Attributes
    ----------
    decision_scores_ : array of shape (n_rows,)
        Scores of the training rows, higher for outliers.
    query_scores_ : array of shape (n_rows,)
        The loss averaged over the last `round_epochs` epochs (eq. 6), for query strategies.
    labels_ : array of shape (n_rows,)
        0 or 1 for every training row.
    threshold_ : float
        The score above which a row is a predicted outlier.
    decision_ : Decision
        Calibrated probabilities, the threshold and how it was chosen, and the labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of str
        Names of the columns, if the table had names.

    References
    ----------
    "Memorize Early, Then Query: Inlier-Memorization-Guided Active Outlier Detection".

    Examples
    --------
    >>> import numpy as np
    >>> from imboost import IMBoost
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[:5] += 6
    >>> detector = IMBoost(contamination=0.025, random_state=0).fit(rows)
    >>> sorted(np.flatnonzero(detector.labels_).tolist())
    [0, 1, 2, 3, 4]
    """

    has_own_query_scores = True

    round_epochs: int = field(default=10, metadata=COUNT)
    label_rounds: int = field(default=5, metadata=COUNT)
    threshold_mix: float = field(default=0.4, metadata={"minimum": 0.0, "maximum": 1.0})
    inlier_weight: float = field(default=2.0, metadata=NOT_NEGATIVE)
    outlier_weight: float = field(default=1.0, metadata=NOT_NEGATIVE)
    decay_weights: bool = False
    hinge_margin: float | None = None

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.hinge_margin is not None:
            check_number("hinge_margin", self.hinge_margin, minimum=0.0)

    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        rows = self._start(X)
        rng, generator = self._random_sources(stage=0)
        steps = self._warmup_steps(rows, rng)
        self._run(rows, steps, generator, range(self._schedule.warmup_epochs))
        if (labels != UNLABELLED).any():
            self._polarize(rows, labels, self.label_rounds * self.round_epochs)
        self._freeze()

    def _refine(self, X: NDArray[Any], labels: Labels) -> None:
        self._polarize(self._rows(X), labels, self.round_epochs)
        self._freeze()

    def _polarize(self, rows: ScaledRows, labels: Labels, n_epochs: int) -> None:
        first = self._next_epoch
        epochs = range(first, first + n_epochs)
        rng, generator = self._random_sources(stage=first)
        steps = polarization_steps(
            self._schedule,
            epochs,
            rows,
            labels,
            rng,
            inlier_weight=self.inlier_weight,
            outlier_weight=self.outlier_weight,
            threshold_mix=self.threshold_mix,
            trim_quantile=self.trim_quantile,
            decay=self.decay_weights,
            hinge_margin=self.hinge_margin,
            trim=self._trim,
        )
        known = int((labels != UNLABELLED).sum())
        self._report(f"polarization: epochs {first} to {epochs.stop - 1}, {known} labels")
        self._run(rows, steps, generator, epochs)

    def _run(
        self,
        rows: ScaledRows,
        steps: Iterator[Step[Backbone]],
        generator: torch.Generator,
        epochs: range,
    ) -> None:
        """Train over `epochs`; set `query_scores_` to the ensembled loss (eq. 6)."""
        trained = train(self._model, self._optimiser, rows, steps, generator)
        averaged = epochs[-self.round_epochs :]
        self.query_scores_ = ensembled_loss(
            self._model, rows, trained, averaged, generator, self.n_samples
        )
        self._next_epoch = epochs.stop
