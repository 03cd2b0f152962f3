"""Linear and logarithmic pooling of the base learners' probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from imboost.arrays import Floats, Mask
from imboost.detectors.stack.base_learners import BaseLearner, clip_probability
from imboost.labels import OUTLIER, Labels
from imboost.stats.log_odds import logit
from imboost.stats.row_products import Singles

if TYPE_CHECKING:
    from imboost.detectors.stack.in_context import InContextLearner

FeatureFunction = Callable[[Mask], Singles]
"""Computes the network's features of the rows that a mask selects."""
LearnerFeatures = Callable[[str], NDArray[Any]]
"""Computes the features of rows for the learner of a name."""

N_ITERATIONS = 50  # the weights hardly change after that
MIN_PROBABILITY = 1e-4  # smaller than in `stats.log_odds`, so that fewer rows are tied
THRESHOLD_ROWS = 64  # lowest candidates: the network's mean log-odds of them are extrapolated


def pool_weights(predictions: Floats, labels: Labels, prior: Floats) -> Floats:
    """Return the weights of a linear opinion pool, fitted to out-of-fold predictions.

    The weights are the maximum a posteriori mixture weights under a Dirichlet prior, found by
    expectation maximisation.

    Parameters
    ----------
    predictions : array of shape (n_labelled, n_learners)
        Out-of-fold probabilities of being an outlier.
    labels : array of shape (n_labelled,)
    prior : array of shape (n_learners,)
        Pseudo-counts of the Dirichlet prior, in labelled rows.

    Examples
    --------
    >>> out_of_fold = np.array([[0.9, 0.4], [0.1, 0.6], [0.2, 0.5]])
    >>> pool_weights(out_of_fold, np.array([1, 0, 0]), np.array([1.0, 1.0])).round(1).tolist()
    [0.7, 0.3]
    """
    likelihood = np.where(labels[:, None] == OUTLIER, predictions, 1 - predictions)
    weights = prior / prior.sum()
    for _ in range(N_ITERATIONS):
        responsibility = weights * likelihood
        responsibility /= responsibility.sum(axis=1, keepdims=True)
        counts = responsibility.sum(axis=0) + prior
        weights = counts / counts.sum()
    return np.asarray(weights)


@dataclass(frozen=True, eq=False)
class LinearPool:
    """The weighted mean of the base learners' probabilities.

    Parameters
    ----------
    learners : dict of str to BaseLearner
    weights : dict of str to float
    out_of_fold : array of shape (n_labelled,)
        Predictions of labelled rows by learners that do not have their labels.
    """

    learners: dict[str, BaseLearner]
    weights: dict[str, float]
    out_of_fold: Floats

    @classmethod
    def fit(
        cls, learners: dict[str, BaseLearner], labels: Labels, prior: dict[str, float]
    ) -> LinearPool:
        """Fit the weights, see `pool_weights`; `prior` are the pseudo-counts of the learners."""
        out_of_fold = np.column_stack([learner.out_of_fold for learner in learners.values()])
        counts = np.array([prior[name] for name in learners])
        weights = pool_weights(out_of_fold, labels, counts)
        return cls(
            learners, dict(zip(learners, weights.tolist(), strict=True)), out_of_fold @ weights
        )

    def predict(self, X: LearnerFeatures, score_proba: Floats) -> Floats:
        """Return each row's probability of being an outlier.

        Parameters
        ----------
        X : callable
            Computes the features of the rows for the learner of a name.
        score_proba : array of shape (n_rows,)
            The prediction of the `ScoreModel`.
        """
        total = np.zeros(len(score_proba))
        for name, learner in self.learners.items():
            total += self.weights[name] * learner.predict(X(name), score_proba)
        return total


@dataclass(frozen=True, eq=False)
class LogarithmicPool:
    """The weighted sum of the log-odds of the linear pool and of the in-context network.

    The network predicts a few thousand rows per second. In large tables it predicts candidates
    alone: the rows with the highest pooled probabilities. Below them its log-odds are taken to
    fall like those of the linear pool.

    Parameters
    ----------
    learner : InContextLearner
    pool_weight, network_weight : float
        Factors of the log-odds.
    candidate_threshold : float
        Candidates have pooled log-odds above it.
    threshold_log_odds : float
        Log-odds that the network predicts near the threshold.
    """

    learner: InContextLearner
    pool_weight: float
    network_weight: float
    candidate_threshold: float = -np.inf
    threshold_log_odds: float = 0.0

    @classmethod
    def fit(
        cls,
        learner: InContextLearner,
        pool_weight: float,
        network_weight: float,
        pooled: Floats,
        X: FeatureFunction,
        candidate_fraction: float,
    ) -> LogarithmicPool:
        """Choose the threshold on a sample of the training rows.

        Parameters
        ----------
        learner, pool_weight, network_weight
            As in the class.
        pooled : array of shape (n_sampled,)
            Probabilities of the linear pool for the sample.
        X : callable
            Computes the features of the rows of the sample that a mask selects.
        candidate_fraction : float
            Largest fraction of the sample that are candidates.
        """
        log_odds = logit(pooled, MIN_PROBABILITY)
        threshold = float(np.quantile(log_odds, 1 - candidate_fraction))
        order = np.argsort(log_odds, kind="stable")
        n_below = int((log_odds <= threshold).sum())
        nearest = np.zeros(len(log_odds), dtype=np.bool_)
        # The last rows are taken where none is above the threshold.
        nearest[order[min(n_below, len(order) - 1) :][:THRESHOLD_ROWS]] = True
        predicted = float(learner.log_odds(X(nearest)).mean())
        return cls(learner, pool_weight, network_weight, threshold, predicted)

    def is_candidate(self, pooled: Floats) -> Mask:
        """Return which rows the network predicts, given the predictions of the linear pool."""
        return logit(pooled, MIN_PROBABILITY) > self.candidate_threshold

    def predict(self, pooled: Floats, candidate_log_odds: Floats) -> Floats:
        """Return each row's probability of being an outlier.

        Parameters
        ----------
        pooled : array of shape (n_rows,)
            Probabilities of the linear pool.
        candidate_log_odds : array of shape (n_candidates,)
            Log-odds that the network predicts for the candidates among the rows.
        """
        network = self._extrapolate(pooled, candidate_log_odds)
        log_odds = self.pool_weight * logit(pooled, MIN_PROBABILITY)
        return np.asarray(expit(log_odds + self.network_weight * network))

    def out_of_fold(self, pooled: Floats, X: FeatureFunction) -> Floats:
        """Return out-of-fold predictions of the labelled rows, given those of the linear pool."""
        found = logit(self.learner.out_of_fold)
        is_candidate = self.is_candidate(pooled)
        outside = is_candidate & np.isnan(found)  # of the context
        found[outside] = logit(clip_probability(self.learner.predict(X(outside))))
        return self.predict(pooled, found[is_candidate])

    def _extrapolate(self, pooled: Floats, candidate_log_odds: Floats) -> Floats:
        """Return the network's log-odds of all rows, given those of the candidates."""
        log_odds = logit(pooled, MIN_PROBABILITY)
        found = self.threshold_log_odds + log_odds - self.candidate_threshold
        found[self.is_candidate(pooled)] = candidate_log_odds
        return np.asarray(found)
