"""Detectors without a neural network: their base classes, and trees on unsupervised scores."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neighbors import NearestNeighbors

from imboost.arrays import Floats, Indices
from imboost.detectors.base import COUNT, TWO_OR_MORE, BaseDetector, column_medians, impute
from imboost.detectors.stack.forests import Forest
from imboost.detectors.stack.isolation import IsolationScores
from imboost.labels import UNLABELLED, Labels, has_both_classes
from imboost.stats.ranks import RankTransform
from imboost.stats.sampling import sample_rows
from imboost.stats.scaling import MinMaxScaling

MAX_CHUNK_VALUES = 20_000_000  # numbers in the largest array of a chunk: 160 MB
SAME_ROW = 1e-6  # smaller distances between scaled rows are rounding errors
MAX_TREE_COLUMNS = 5  # up to this many columns a search tree is quicker than brute force


class ShallowDetector(BaseDetector):
    """Fits unsupervised parts once, in `fit`, and supervised parts in every round.

    Everything is computed on the CPU; `device` has no effect. By default, missing values
    are replaced by the median of their column.
    """

    allow_nan = True
    refine_depends_on_history = False

    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        self._scaling = MinMaxScaling.fit(X)
        self._medians = column_medians(self._scaling.transform(X))
        table = self._preprocess(X)
        self._report(f"unsupervised fit on {len(X)} rows")
        self._fit_unsupervised(table)
        self._fit_labels(table, labels)

    def _refine(self, X: NDArray[Any], labels: Labels) -> None:
        self._fit_labels(self._preprocess(X), labels)

    def _score_rows(self, X: NDArray[Any]) -> Floats:
        return self._score_preprocessed(self._preprocess(X))

    def _preprocess(self, X: NDArray[Any]) -> Floats:
        return impute(self._scaling.transform(X), self._medians)

    @abstractmethod
    def _fit_unsupervised(self, table: Floats) -> None: ...

    @abstractmethod
    def _fit_labels(self, table: Floats, labels: Labels) -> None:
        """Fit to all current labels; there may be none."""

    @abstractmethod
    def _score_preprocessed(self, table: Floats) -> Floats:
        """Return the outlier score of every row of a preprocessed table."""


class ScoreFeatureClassifier(ShallowDetector):
    """Fit a classifier on the columns and on unsupervised scores of the labelled rows.

    Until labels of both classes are known, the score is the mean rank of the unsupervised scores.
    """

    unsaved_attributes = ("_training_scores",)

    @abstractmethod
    def _fit_scores(self, table: Floats) -> None: ...

    @abstractmethod
    def _unsupervised_scores(self, table: Floats) -> Floats:
        """Return the scores of the unsupervised detectors: (rows, scores)."""

    @abstractmethod
    def _fit_classifier(self, features: Floats, labels: Labels) -> Any: ...

    @abstractmethod
    def _classify(self, features: Floats, mean_rank: Floats) -> Floats:
        """Return scores by `_classifier`; the mean rank of unsupervised scores may break ties."""

    def _fit_unsupervised(self, table: Floats) -> None:
        self._fit_scores(table)
        self._training_scores = self._unsupervised_scores(table)
        self._ranks = RankTransform.fit(self._training_scores)

    def _fit_labels(self, table: Floats, labels: Labels) -> None:
        self._classifier: Any = None
        if not has_both_classes(labels):
            return
        known = labels != UNLABELLED
        features = np.hstack([table[known], self._training_scores[known]])
        self._classifier = self._fit_classifier(features, labels[known])

    def _score_preprocessed(self, table: Floats) -> Floats:
        return self._score_features(table, self._unsupervised_scores(table))

    def _score_training_rows(self, X: NDArray[Any]) -> Floats:
        return self._score_features(self._preprocess(X), self._training_scores)

    def _score_features(self, table: Floats, scores: Floats) -> Floats:
        mean_rank = np.asarray(self._ranks.transform(scores).mean(axis=1))
        if self._classifier is None:
            return mean_rank
        return self._classify(np.hstack([table, scores]), mean_rank)


@dataclass(kw_only=True, eq=False, repr=False)
class Trees(ScoreFeatureClassifier):
    """A strong, simple baseline: extremely randomised trees on columns and unsupervised scores.

    The features of a row are its columns, its isolation-forest score and its distances to nearest
    neighbours. The score is the fraction of trees that predict an outlier; ties are broken by the
    mean rank of the unsupervised scores. Until labels of both classes are known, the score is
    that rank.

    Parameters
    ----------
    n_trees : int
        Trees of the classifier.
    n_isolation_trees : int
        Trees of the isolation forest.
    n_neighbors : tuple of int
        Ranks k of the neighbours whose distances are features.
    max_reference_rows : int
        Maximum number of rows, drawn at random, among which neighbours are searched.
    contamination, random_state, device, verbose
        As in `IMBoost`.

    Attributes
    ----------
    decision_scores_, query_scores_, labels_, threshold_, n_features_in_, feature_names_in_
        As in `IMBoost`; `query_scores_` is `decision_scores_`.

    References
    ----------
    Geurts et al., "Extremely randomized trees", Machine Learning 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost.detectors import Trees
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(Trees(random_state=0).fit(rows).decision_scores_.argmax())
    0
    """

    default_query = "mix"

    n_trees: int = field(default=300, metadata=COUNT)
    n_isolation_trees: int = field(default=100, metadata=COUNT)
    n_neighbors: tuple[int, ...] = field(default=(5, 20), metadata=COUNT)
    max_reference_rows: int = field(default=20_000, metadata=TWO_OR_MORE)

    def _fit_scores(self, table: Floats) -> None:
        self._isolation = IsolationScores.fit(table, self.n_isolation_trees, self._seed)
        reference = table[sample_rows(len(table), self.max_reference_rows, self._seed)]
        self._distances = NeighborDistances(reference, max(self.n_neighbors))

    def _fit_classifier(self, features: Floats, labels: Labels) -> Forest:
        forest = ExtraTreesClassifier(self.n_trees, random_state=self._seed)
        return Forest.from_trees(forest.fit(features, labels).estimators_)

    def _classify(self, features: Floats, mean_rank: Floats) -> Floats:
        # The rank only breaks ties: the vote of one tree weighs more.
        return np.asarray(self._classifier.predict(features) + mean_rank / self.n_trees)

    def _unsupervised_scores(self, table: Floats) -> Floats:
        """Return isolation-forest score and neighbour distances: (rows, 1 + distances)."""
        distances = self._distances(table)
        wanted = np.minimum(self.n_neighbors, distances.shape[1]) - 1
        return np.column_stack([self._isolation(table), distances[:, wanted]])


@dataclass(frozen=True, eq=False)
class NeighborDistances:
    """Distances of rows to their nearest neighbours among reference rows.

    One copy of a row among the reference rows does not count, so that a training row is not its
    own neighbour. Fewer neighbours are found where there are fewer reference rows.
    """

    reference: Floats
    n_neighbors: int

    def __call__(self, X: Floats) -> Floats:
        """Return the distances, nearest first, of shape (n_rows, n_neighbors)."""
        algorithm = "auto" if self.reference.shape[1] <= MAX_TREE_COLUMNS else "brute"
        search = NearestNeighbors(algorithm=algorithm).fit(self.reference)
        n_found = min(self.n_neighbors + 1, len(self.reference))
        n_chunk = max(1, MAX_CHUNK_VALUES // (n_found * X.shape[1]))
        parts = []
        for start in range(0, len(X), n_chunk):
            rows = X[start : start + n_chunk]
            found = search.kneighbors(rows, n_found, return_distance=False)
            parts.append(self._measure(rows, found))
        return np.concatenate(parts)

    def _measure(self, rows: Floats, found: Indices) -> Floats:
        """Compute the distances again, leaving out one copy of each row.

        The last digits of the distances that the search returns depend on the number of rows in
        a call.
        """
        offsets = self.reference[found]  # (rows, found, features)
        offsets -= rows[:, None, :]
        distances = np.sqrt(np.einsum("ijk,ijk->ij", offsets, offsets)).astype(np.float32)
        distances.sort(axis=1)
        n_copies = (distances[:, :1] <= SAME_ROW).astype(np.int64)
        n_wanted = min(self.n_neighbors, max(len(self.reference) - 1, 1))
        wanted = np.minimum(n_copies + np.arange(n_wanted), found.shape[1] - 1)
        return np.take_along_axis(distances, wanted, axis=1).astype(np.float64)
