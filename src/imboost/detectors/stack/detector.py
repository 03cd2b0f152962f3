"""Stack: the default detector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats, Indices, Mask
from imboost.detectors.base import COUNT, NOT_NEGATIVE, TWO_OR_MORE, BaseDetector
from imboost.detectors.distilled import Distilled, distill
from imboost.detectors.stack.base_learners import PRIOR_INTERCEPT, ScoreModel, prior_intercept
from imboost.detectors.stack.conditionals import predicted_columns
from imboost.detectors.stack.ensemble import NETWORK, Ensemble
from imboost.detectors.stack.features import FeatureExtractor
from imboost.detectors.stack.pooling import LogarithmicPool
from imboost.detectors.stack.priors import (
    dimensionality_weight,
    learner_weights,
    network_weight,
    score_weights,
)
from imboost.detectors.stack.unsupervised import ScoredRows, UnsupervisedScores
from imboost.errors import SettingError, UnknownNameError
from imboost.explain import Attributions, occlusion_attributions
from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels, has_both_classes
from imboost.parallel import limit_library_threads, map_in_threads
from imboost.stats.row_products import Singles
from imboost.stats.sampling import sample_rows
from imboost.stats.scaling import MinMaxScaling
from imboost.tables.layout import Layout

if TYPE_CHECKING:
    from imboost.detectors.stack.in_context import InContextLearner

Result = TypeVar("Result")

UNSUPERVISED_SCORES = tuple(score_weights(0.0))
BASE_LEARNERS = (*learner_weights(0.0), NETWORK)
N_CANDIDATES = 1000  # expected number of training rows that the network predicts
N_THRESHOLD_ROWS = 20_000  # training rows that choose the candidates
MAX_PRIOR_STRENGTH = 1e12  # a stronger prior gives the same weights
N_BACKGROUND = 200  # unlabelled rows taken to be inliers in tables with a cell model
MAX_BACKGROUND_SCORE = 0.95  # quantile of the scores below which they are drawn
MEAN_CELL_SCORE = 1.0  # of a negative log tail probability, which is exponentially distributed
MAX_FIT_ROWS = 30_000  # rows that the unsupervised models are fitted to, drawn at random
NETWORK_ROWS = 256  # rows that the network predicts at a time in a thread: four of its blocks
PREDICTED_ROWS = 2048  # rows whose features fit into the cache of a core
CHUNK_ROWS = 8192  # rows scored at a time by a thread, to bound memory


@dataclass(kw_only=True, eq=False, repr=False)
class Stack(BaseDetector):
    """Stacking of base learners on the columns and on unsupervised scores.

    Without labels, the score is a logistic function of a weighted mean of unsupervised scores:
    isolation forest, distances to nearest neighbours, PCA reconstruction error and, in tables
    with categories, the conditional model of the cells. Labels first change the weights of these
    scores. Once labels of both classes are known, base learners are fitted to the labelled rows:
    two forests on columns and scores, a linear model of principal components and scores, and a
    Gaussian process on the residuals of the weighted scores. Their linear pool is the mean of
    their probabilities, with weights fitted to out-of-fold predictions of the labelled rows.

    The base learner "in_context" is a network that was trained on synthetic tables and predicts
    in context. Its log-odds are added to those of the linear pool. It takes part in tables with
    categories only if it is the only learner. With it a round takes up to a second longer, and
    scoring takes up to twenty times as long, most with at most 1,000 training rows: the network
    predicts all of them, and only the highest scores of larger tables.

    Parameters
    ----------
    n_trees : int
        Trees of each forest that is fitted to labels.
    n_isolation_trees : int
        Trees of the isolation forest.
    n_neighbors : tuple of int
        Values of k. The kNN score is the mean distance to the k nearest neighbours, averaged over
        these values.
    n_components : int
        Principal components that are features of the forests and of the linear model.
    max_reference_rows : int
        Neighbours are searched for among at most this many rows, drawn at random.
    unsupervised_scores : tuple of str
        The scores in use: "isolation_forest", "knn", "pca" and "cells".
    base_learners : tuple of str
        The learners in use: "random_forest", "extra_trees", "linear", "gaussian_process",
        "scores", the weighted unsupervised scores, and "in_context", the pretrained network.
    score_weight_std : float
        Standard deviation of the prior of the unsupervised scores' weights, relative to its mean:
        how far labels can move the weights. With 0 they are fixed.
    prior_strength : float
        Factor of the pseudo-counts in the Dirichlet prior of the learners' weights, see
        `imboost.detectors.stack.priors`.
    n_jobs : int
        Number of threads that score rows; -1 for one per core. The scores do not depend on it.
    contamination, random_state, device, verbose
        As in `IMBoost`; everything is computed on the CPU.

    Attributes
    ----------
    learner_weights_ : dict of str to float
        Weights of the base learners in the linear pool, and the factor of the network's
        log-odds; empty until labels of both classes are known.
    score_weights_ : dict of str to float
        Coefficients of the standardised unsupervised scores in the log-odds.
    decision_scores_, query_scores_, labels_, threshold_, decision_, n_features_in_, \
    feature_names_in_
        As in `IMBoost`; `query_scores_` is `decision_scores_`. PCA and cell model score training
        rows out of fold or out of bag, also when they are given to `decision_function` again. The
        base learners score labelled rows in sample; `decision_.out_of_fold_proba` holds
        predictions without their own labels.

    References
    ----------
    Wolpert, "Stacked generalization", Neural Networks 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost.detectors import Stack
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(Stack(random_state=0).fit(rows).decision_scores_.argmax())
    0
    """

    allow_nan = True
    refine_depends_on_history = False
    default_query = "spread"
    scores_are_probabilities = True
    uses_rules = True
    unsaved_attributes = ("_training_rows", "_extractor")

    n_trees: int = field(default=100, metadata=COUNT)
    n_isolation_trees: int = field(default=200, metadata=COUNT)
    n_neighbors: tuple[int, ...] = field(default=(40, 80, 160), metadata=COUNT)
    n_components: int = field(default=10, metadata=COUNT)
    max_reference_rows: int = field(default=20_000, metadata=TWO_OR_MORE)
    unsupervised_scores: tuple[str, ...] = UNSUPERVISED_SCORES
    base_learners: tuple[str, ...] = BASE_LEARNERS
    score_weight_std: float = field(default=1.0, metadata=NOT_NEGATIVE)
    prior_strength: float = field(
        default=1.0, metadata={"above": 0.0, "maximum": MAX_PRIOR_STRENGTH}
    )
    n_jobs: int = field(default=-1, metadata={"minimum": -1, "whole": True})

    def _check_settings(self) -> None:
        super()._check_settings()
        always = tuple(name for name in UNSUPERVISED_SCORES if name != "cells")
        names = self.unsupervised_scores
        _check_names("unsupervised_scores", names, UNSUPERVISED_SCORES, always)
        _check_names("base_learners", self.base_learners, BASE_LEARNERS, BASE_LEARNERS)
        if self.n_jobs == 0:
            raise SettingError("n_jobs must be a number of threads or -1 for all cores, got 0.")

    def _preprocess(self, X: NDArray[Any]) -> Singles:
        """Scale a table; missing numbers stay missing."""
        return self._scaling.transform(X).astype(np.float32)

    @limit_library_threads()  # matrix products round differently on several threads
    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        self._scaling = MinMaxScaling.fit(X)
        layout = self._layout or Layout.of_numbers([str(n) for n in range(X.shape[1])])
        sample = sample_rows(len(X), MAX_FIT_ROWS, self._seed)
        self._report(f"unsupervised fit on {len(sample)} rows")
        self._unsupervised = UnsupervisedScores.fit(
            self._preprocess(X[sample]),
            layout,
            n_isolation_trees=self.n_isolation_trees,
            n_neighbors=self.n_neighbors,
            max_reference_rows=self.max_reference_rows,
            seed=self._seed,
        )
        self._training_rows = ScoredRows.concatenate(
            self._map_chunks(lambda part: self._unsupervised.score(self._preprocess(part)), X)
        )
        rows = self._training_rows[sample]
        self._high = high = dimensionality_weight(rows.X, layout)
        self._score_names = [name for name in rows.scores if name in self.unsupervised_scores]
        self._learner_prior = learner_weights(high, has_cells=self._uses_cell_score)
        prior = np.array([score_weights(high)[name] for name in self._score_names])
        self._score_prior = prior / prior.sum()
        self._extractor = FeatureExtractor.fit(
            rows, self._score_names, predicted_columns(layout), self.n_components
        )
        self._prior_intercept = (
            prior_intercept(self._extractor.scores(rows), self._score_prior)
            if self._uses_cell_score
            else PRIOR_INTERCEPT
        )
        # The network has unlabelled rows in its context instead.
        needs_inliers = self._uses_cell_score and self.base_learners != (NETWORK,)
        self._n_background = N_BACKGROUND if needs_inliers else 0
        if self._uses_network:
            from imboost.models.pretrained import load_pretrained

            load_pretrained()  # now, not between the first answers and the next question
        self._fit_labels(labels)

    @property
    def _uses_cell_score(self) -> bool:
        """Whether the score of the worst cell is one of the scores in use."""
        return "cells" in self._score_names

    @property
    def _uses_network(self) -> bool:
        """Whether the network takes part: beside others only in tables without a cell model."""
        is_alone = self.base_learners == (NETWORK,)
        return NETWORK in self.base_learners and (
            is_alone or not self._unsupervised.has_cell_score
        )

    @limit_library_threads()
    def _refine(self, X: NDArray[Any], labels: Labels) -> None:
        self._fit_labels(labels)

    def _fit_labels(self, labels: Labels) -> None:
        known = labels != UNLABELLED
        scores = self._extractor.scores(self._training_rows)
        score_model = ScoreModel.fit(
            scores[known],
            labels[known],
            self._score_prior,
            self.score_weight_std,
            self._prior_intercept,
        )
        self._ensemble = Ensemble.of_scores(self._extractor, score_model)
        if OUTLIER in labels:
            labels = labels.copy()
            labels[self._background_rows(labels, score_model.predict(scores))] = INLIER
            if has_both_classes(labels):
                self._fit_learners(labels, known)

    def _background_rows(self, labels: Labels, proba: Floats) -> Indices:
        """Draw rows without a label that are taken to be inliers.

        Where errors are rare, nearly all rows are inliers, while the rows that people label are
        selected and mostly outliers.
        """
        free = np.flatnonzero(
            (labels == UNLABELLED) & (proba < np.quantile(proba, MAX_BACKGROUND_SCORE))
        )
        n = min(self._n_background, len(free))
        return np.random.default_rng(self._seed).choice(free, n, replace=False)

    def _fit_learners(self, labels: Labels, known: Mask) -> None:
        """Fit to labelled rows, those that are `known`, and background rows."""
        used = labels != UNLABELLED
        rows = self._training_rows[used]
        self._ensemble = self._ensemble.fit_learners(
            self.base_learners,
            rows,
            labels[used],
            known[used],
            prior={name: self.prior_strength * n for name, n in self._learner_prior.items()},
            n_trees=self.n_trees,
            seed=self._seed,
        )
        if self._uses_network:
            from imboost.detectors.stack.in_context import CONTEXT_ROWS, InContextLearner

            order = np.random.default_rng(self._seed).permutation(len(labels))
            unlabelled = self._training_rows[order[~used[order]][:CONTEXT_ROWS]]
            learner = InContextLearner.fit(
                self._extractor.in_context(rows),
                labels[used],
                self._extractor.in_context(unlabelled),
                self._seed,
                self.n_jobs,
            )
            pool = self._fit_pool(learner, int(used.sum()))
            self._ensemble = self._ensemble.add_network(pool, rows)

    def _fit_pool(self, learner: InContextLearner, n_labelled: int) -> LogarithmicPool:
        """Join the in-context network with the other learners if there are any."""
        pool_weight, weight = 1.0, network_weight(self._high, n_labelled)
        if self._ensemble.linear_pool is None:
            pool_weight, weight = 0.0, 1.0
        if self._n_rows <= N_CANDIDATES:
            return LogarithmicPool(learner, pool_weight, weight)
        sample = self._training_rows[sample_rows(self._n_rows, N_THRESHOLD_ROWS, self._seed)]
        predict = self._ensemble.predict_without_network
        return LogarithmicPool.fit(
            learner,
            pool_weight,
            weight,
            np.concatenate(self._map_chunks(predict, sample, PREDICTED_ROWS)),
            lambda part: self._extractor.in_context(sample[part]),
            N_CANDIDATES / self._n_rows,
        )

    @property
    def learner_weights_(self) -> dict[str, float]:
        """Weights of the base learners; empty until labels of both classes are known."""
        return self._ensemble.learner_weights

    @property
    def score_weights_(self) -> dict[str, float]:
        """Coefficients of the standardised unsupervised scores in the log-odds."""
        coefficients = self._ensemble.score_model.coefficients.tolist()
        return dict(zip(self._score_names, coefficients, strict=True))

    def embed(self, X: Any) -> Floats:
        """Return the scaled columns of rows, missing numbers replaced by expected ones."""
        table = self._preprocess(self._check_table(X))
        if np.isnan(table).any():
            table = np.concatenate(self._map_chunks(self._unsupervised.impute, table))
        return table[:, self._ensemble.extractor.columns].astype(np.float64)

    def _scores_rest_on_base_rate(self) -> bool:
        return self._uses_cell_score

    def _out_of_fold_scores(self) -> Floats | None:
        return self._ensemble.out_of_fold

    def distill(self, X: Any, y: Any = None, *, check: bool = True) -> Distilled:
        """Return a small network that scores nearly as this detector does, many times faster.

        Parameters are those of `TableDetector.distill`.
        """
        columns = dict(enumerate(self._check_table(X).T))
        return distill(
            self, columns, lambda cells: np.column_stack(list(cells.values())), y, check=check
        )

    def attribute(self, X: Any) -> Attributions:
        """Estimate the contribution of each column to the scores of rows.

        The expected values are in the units of `X`.
        """
        table = self._preprocess(self._check_table(X))
        cells, expected = self._unsupervised.score_cells(table)
        found = occlusion_attributions(
            self._score_preprocessed,
            table,
            expected,
            cells - MEAN_CELL_SCORE,
            self._unsupervised.layout,
            float(np.median(self.decision_scores_)),
        )
        return replace(found, expected=self._scaling.inverse_transform(expected))

    def _score_rows(self, X: NDArray[Any]) -> Floats:
        return self._predict(X, lambda part: self._unsupervised.score(self._preprocess(part)))

    def _score_preprocessed(self, X: Singles) -> Floats:
        return self._predict(X, self._unsupervised.score)

    def _score_training_rows(self, X: NDArray[Any]) -> Floats:
        return self._predict(self._training_rows, lambda part: part, PREDICTED_ROWS)

    def _predict(
        self, rows: Any, score: Callable[[Any], ScoredRows], n_chunk: int = CHUNK_ROWS
    ) -> Floats:
        """Return the scores of rows, whose unsupervised scores a function computes."""
        network = self._ensemble.logarithmic_pool
        if network is None:
            predict = self._ensemble.predict_without_network
            return np.concatenate(
                self._map_chunks(lambda part: predict(score(part)), rows, n_chunk)
            )
        return network.predict(*self._predict_with_network(network, rows, score, n_chunk))

    def _predict_with_network(
        self,
        network: LogarithmicPool,
        rows: Any,
        score: Callable[[Any], ScoredRows],
        n_chunk: int,
    ) -> tuple[Floats, Floats]:
        """Return the linear pool's probabilities, and the network's log-odds of the candidates."""

        def predict(part: Any) -> tuple[Floats, Singles]:
            scored = score(part)
            pooled = self._ensemble.predict_without_network(scored)
            return pooled, self._ensemble.extractor.in_context(
                scored[network.is_candidate(pooled)]
            )

        parts = self._map_chunks(predict, rows, n_chunk)
        pooled, candidates = (np.concatenate(part) for part in zip(*parts, strict=True))
        # The network predicts whole blocks, so that the few candidates of each chunk are joined.
        found = self._map_chunks(network.learner.log_odds, candidates, NETWORK_ROWS)
        return pooled, np.concatenate([np.zeros(0), *found])

    def _map_chunks(
        self, function: Callable[[Any], Result], rows: Any, n_chunk: int = CHUNK_ROWS
    ) -> list[Result]:
        """Return the results of a function for chunks of rows, computed by several threads."""
        chunks = (rows[start : start + n_chunk] for start in range(0, len(rows), n_chunk))
        return map_in_threads(function, chunks, self.n_jobs)


def _check_names(
    setting: str, names: tuple[str, ...], known: tuple[str, ...], required: tuple[str, ...]
) -> None:
    """Raise unless all names are known and one of them is among those required."""
    if isinstance(names, str) or len(set(names)) < len(names):
        raise SettingError(f"{setting} must be a tuple of distinct names, got {names!r}.")
    for name in names:
        if name not in known:
            raise UnknownNameError(f"name in {setting}", name, known)
    if not set(names) & set(required):
        raise SettingError(f"{setting} must name at least one of {', '.join(required)}.")
