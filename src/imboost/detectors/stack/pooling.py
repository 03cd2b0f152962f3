"""Opinion pools: the predictions of the base learners become one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from imboost.detectors.stack.in_context import InContextLearner
from imboost.labels import OUTLIER, Labels
from imboost.stats.row_products import Singles

Floats = NDArray[np.float64]
Features = Callable[[NDArray[np.bool_]], Singles]
"""Returns the features of the rows of a mask: most rows of a large table do not need theirs."""

N_ITERATIONS = 50  # the weights hardly change after that
MIN_PROBABILITY = 1e-4  # of the linear pool, so that its log-odds are finite
BORDER_ROWS = 64  # candidates with the lowest pooled probabilities: what the others would get


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
class LogarithmicPool:
    """The sum of the log-odds of the linear pool and of the in-context network, with weights.

    The network predicts a few thousand rows per second. In large tables it predicts the rows with
    the highest pooled probabilities alone, which are its candidates. Below them its log-odds are
    taken to fall like those of the linear pool.

    Parameters
    ----------
    learner : InContextLearner
    pool_weight, network_weight : float
        Factors of the log-odds.
    lowest : float
        Pooled log-odds of the lowest candidate.
    at_lowest : float
        Log-odds that the network predicts there.
    """

    learner: InContextLearner
    pool_weight: float
    network_weight: float
    lowest: float = -np.inf
    at_lowest: float = 0.0

    @classmethod
    def fit(
        cls,
        learner: InContextLearner,
        pool_weight: float,
        network_weight: float,
        pooled: Floats,
        X: Features,
        share: float,
    ) -> LogarithmicPool:
        """Choose the limit of the candidates on a sample of the training rows.

        Parameters
        ----------
        learner, pool_weight, network_weight
            As in the class.
        pooled : array of shape (n_sampled,)
            Probabilities of the linear pool for the sample.
        X : callable
            Returns the features of some of these rows, given a mask.
        share : float
            Fraction of the rows that are candidates.
        """
        log_odds = _log_odds(pooled)
        lowest = float(np.quantile(log_odds, 1 - share))
        above = np.sort(log_odds[log_odds >= lowest])
        border = (log_odds >= lowest) & (log_odds <= above[:BORDER_ROWS][-1])
        at_lowest = float(learner.log_odds(X(border)).mean())
        return cls(learner, pool_weight, network_weight, lowest, at_lowest)

    def predict(self, pooled: Floats, X: Features) -> Floats:
        """Return each row's probability of being an outlier, given that of the linear pool."""
        log_odds = _log_odds(pooled)
        return self._join(log_odds, self._network_log_odds(log_odds, X))

    def predict_by_network(self, pooled: Floats, X: Features) -> Floats:
        """Return the network's own probabilities, given those of the linear pool."""
        return np.asarray(expit(self._network_log_odds(_log_odds(pooled), X)))

    def out_of_fold(self, pooled: Floats) -> Floats:
        """Return out-of-fold predictions, given those of the linear pool."""
        return self._join(_log_odds(pooled), logit(self.learner.out_of_fold))

    def _network_log_odds(self, pooled: Floats, X: Features) -> Floats:
        is_candidate = pooled >= self.lowest
        found = self.at_lowest + pooled - self.lowest
        found[is_candidate] = self.learner.log_odds(X(is_candidate))
        return found

    def _join(self, pooled: Floats, network: Floats) -> Floats:
        return np.asarray(expit(self.pool_weight * pooled + self.network_weight * network))


def _log_odds(proba: Floats) -> Floats:
    return np.asarray(logit(np.clip(proba, MIN_PROBABILITY, 1 - MIN_PROBABILITY)))
