"""LEARNING-LOSS: rows on which a small model predicts the largest loss of the detector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression

from imboost.arrays import Floats, Indices
from imboost.labels import OUTLIER, UNLABELLED, Labels
from imboost.query.embedding import standardise
from imboost.query.random_rows import RandomRows
from imboost.query.strategy import FittedDetector, Points, Rng, Scores
from imboost.validation import check_number

MIN_PROBABILITY = 1e-6  # keeps the log-loss finite
MAX_PAIRS = 20_000  # pairs of labelled rows that the model is fitted to
CHUNK_ROWS = 10_000  # rows whose features are computed at a time


@dataclass
class LearningLoss:
    """Select the rows for which the largest log-loss of the detector is predicted.

    The losses of the labelled rows are known, of `Stack` out of fold. A linear model of radial
    basis functions learns to rank rows by their loss, from pairs of labelled rows; its inputs are
    the columns of a row and its score, with equal weight. Until two labelled rows have different
    losses, rows are selected at random.

    Differs from the reference in the model, which is no part of the detector, and in the ranking
    loss, which is logistic (RankNet) instead of a hinge and weighted by the difference of losses.

    Keeps state: the embedding of the rows.

    Parameters
    ----------
    n_components : int
        Maximum number of radial basis functions; their centres are labelled rows.
    regularisation : float
        C, the inverse strength of the penalty of the weights.

    References
    ----------
    Yoo and Kweon, "Learning loss for active learning", CVPR 2019.

    Burges et al., "Learning to rank using gradient descent", ICML 2005.
    """

    n_components: int = 100
    regularisation: float = 1.0
    _points: Points | None = field(init=False, default=None, repr=False)
    _losses: Floats | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the settings."""
        check_number("n_components", self.n_components, minimum=1, whole=True)
        check_number("regularisation", self.regularisation, above=0.0)

    def set_embedding(self, points: Points) -> None:
        """Standardise and keep the rows as inputs of the model."""
        self._points = standardise(points)

    def set_detector(self, detector: FittedDetector, X: Any) -> None:
        """Compute the detector's losses on the labelled rows."""
        decision = detector.decision_
        out_of_fold = decision.out_of_fold_proba
        in_sample = decision.probability(decision.scores)
        proba = np.where(np.isnan(out_of_fold), in_sample, out_of_fold)
        self._losses = log_losses(proba, decision.labels)

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the `n` candidates with the largest predicted loss, largest first."""
        predicted = self._predict(scores, candidates, rng)
        if predicted is None:
            return RandomRows().select(scores, candidates, n, rng)
        return candidates[np.argsort(-predicted, kind="stable")[:n]]

    def _predict(self, scores: Scores, candidates: Indices, rng: Rng) -> Floats | None:
        """Return the predicted losses of candidates up to a monotone function, if there are any.

        None if the losses of the labelled rows cannot be ranked.
        """
        if self._losses is None:
            return None
        known = np.flatnonzero(~np.isnan(self._losses))
        losses = self._losses[known]
        if len(known) == 0 or losses.min() == losses.max():
            return None
        inputs = self._inputs(scores)
        basis = Nystroem(  # exp(-d² / number of inputs) of the squared distance d²
            n_components=min(self.n_components, len(known)),
            random_state=int(rng.integers(2**31)),
        ).fit(inputs[known])
        features = basis.transform(inputs[known])
        higher, lower = _ranked_pairs(losses, rng)
        differences = features[higher] - features[lower]
        signs = np.where(np.arange(len(differences)) % 2, 1, -1)
        model = LogisticRegression(C=self.regularisation, fit_intercept=False)
        weights = losses[higher] - losses[lower]  # large errors count more than small differences
        model.fit(differences * signs[:, None], signs, weights / weights.mean())
        parts = np.array_split(candidates, -(-len(candidates) // CHUNK_ROWS))
        return np.concatenate([basis.transform(inputs[part]) @ model.coef_[0] for part in parts])

    def _inputs(self, scores: Scores) -> Points:
        """Return columns and rank of the score, whose weight is that of all columns."""
        ranks = standardise(rankdata(scores)[:, None])
        if self._points is None:
            return ranks
        return np.hstack([self._points, ranks * np.sqrt(self._points.shape[1])])


def log_losses(proba: Floats, labels: Labels) -> Floats:
    """Return the log-loss of every labelled row, nan for the others."""
    correct = np.where(labels == OUTLIER, proba, 1 - proba)
    losses = -np.log(np.maximum(correct, MIN_PROBABILITY))
    return np.where(labels == UNLABELLED, np.nan, losses)


def _ranked_pairs(losses: Floats, rng: Rng) -> tuple[Indices, Indices]:
    """Return pairs of positions with different losses, the higher first; at least two pairs."""
    n = len(losses)
    if n * n <= MAX_PAIRS:
        first, second = (part.ravel() for part in np.indices((n, n)))
    else:
        first, second = rng.integers(n, size=(2, MAX_PAIRS))
    is_higher = losses[first] > losses[second]
    first, second = first[is_higher], second[is_higher]
    if len(first) < 2:  # both signs are needed
        first, second = np.repeat(losses.argmax(), 2), np.repeat(losses.argmin(), 2)
    return first, second
