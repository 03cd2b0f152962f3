"""The models of a `Stack` that are fitted to labels, and how their predictions are pooled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from imboost.arrays import Floats, Mask
from imboost.detectors.stack.base_learners import ScoreModel, fit_learner
from imboost.detectors.stack.features import FeatureExtractor
from imboost.detectors.stack.pooling import LinearPool, LogarithmicPool
from imboost.detectors.stack.unsupervised import ScoredRows
from imboost.labels import Labels

NETWORK = "in_context"  # the base learner that is not part of the linear pool


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A score model and, once rows of both classes are labelled, base learners.

    Parameters
    ----------
    extractor : FeatureExtractor
    score_model : ScoreModel
    out_of_fold : array of shape (n_labelled,)
        Predictions of labelled rows by models that were not fitted to their labels.
    linear_pool : LinearPool, optional
        The base learners that are fitted to labels.
    logarithmic_pool : LogarithmicPool, optional
        The in-context network, which is joined with the others.
    """

    extractor: FeatureExtractor
    score_model: ScoreModel
    out_of_fold: Floats
    linear_pool: LinearPool | None = None
    logarithmic_pool: LogarithmicPool | None = None

    @classmethod
    def of_scores(cls, extractor: FeatureExtractor, score_model: ScoreModel) -> Ensemble:
        """Return the ensemble without base learners, which predicts as the score model."""
        return cls(extractor, score_model, score_model.out_of_fold)

    def fit_learners(
        self,
        names: tuple[str, ...],
        rows: ScoredRows,
        labels: Labels,
        known: Mask,
        *,
        prior: dict[str, float],
        n_trees: int,
        seed: int,
    ) -> Ensemble:
        """Return the ensemble with base learners that are fitted to rows of both classes.

        Parameters
        ----------
        names : tuple of str
            The base learners; the network is left out, see `add_network`.
        rows : ScoredRows of length n_labelled
        labels : array of shape (n_labelled,)
        known : boolean array of shape (n_labelled,)
            False for background rows, which the score model was not fitted to.
        prior : dict of str to float
            Pseudo-counts of the base learners.
        n_trees : int
            Trees in each forest.
        seed : int
        """
        if names == (NETWORK,):
            return self
        score_proba = self.score_model.predict(self.extractor.scores(rows))
        score_out_of_fold = score_proba.copy()
        score_out_of_fold[known] = self.score_model.out_of_fold
        learners = {
            name: fit_learner(
                name,
                self._features(name, rows),
                labels,
                score_proba=score_proba,
                score_out_of_fold=score_out_of_fold,
                n_trees=n_trees,
                seed=seed + number,
            )
            for number, name in enumerate(names)
            if name != NETWORK
        }
        pool = LinearPool.fit(learners, labels, prior)
        return replace(self, linear_pool=pool, out_of_fold=pool.out_of_fold[known])

    def add_network(self, pool: LogarithmicPool, rows: ScoredRows) -> Ensemble:
        """Return the ensemble with the in-context network.

        Parameters
        ----------
        pool : LogarithmicPool
        rows : ScoredRows of length n_labelled
            The rows of `out_of_fold`. The network takes no part in tables with background rows.
        """
        out_of_fold = pool.out_of_fold(
            self.out_of_fold, lambda part: self.extractor.in_context(rows[part])
        )
        return replace(self, logarithmic_pool=pool, out_of_fold=out_of_fold)

    @property
    def learner_weights(self) -> dict[str, float]:
        """Weights of the linear pool, and the factor of the network's log-odds."""
        weights = dict(self.linear_pool.weights) if self.linear_pool else {}
        if self.logarithmic_pool:
            weights[NETWORK] = self.logarithmic_pool.network_weight
        return weights

    def predict_without_network(self, rows: ScoredRows) -> Floats:
        """Return the prediction of the linear pool, or of the score model if there is none."""
        score_proba = self.score_model.predict(self.extractor.scores(rows))
        if self.linear_pool is None:
            return score_proba
        return self.linear_pool.predict(lambda name: self._features(name, rows), score_proba)

    def _features(self, learner: str, rows: ScoredRows) -> NDArray[Any]:
        features: NDArray[Any] = getattr(self.extractor, learner)(rows)
        return features
