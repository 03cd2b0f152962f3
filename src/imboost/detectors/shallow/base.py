"""Base classes of detectors without a neural network."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats
from imboost.detectors.base import BaseDetector, column_medians, impute
from imboost.labels import UNLABELLED, Labels, has_both_classes
from imboost.stats.ranks import RankTransform
from imboost.stats.scaling import MinMaxScaling


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
        """Scale a table and impute its missing values."""
        return impute(self._scaling.transform(X), self._medians)

    @abstractmethod
    def _fit_unsupervised(self, table: Floats) -> None:
        """Fit everything that does not depend on labels."""

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
    def _fit_scores(self, table: Floats) -> None:
        """Fit the unsupervised detectors."""

    @abstractmethod
    def _unsupervised_scores(self, table: Floats) -> Floats:
        """Return the scores of the unsupervised detectors, of shape (n_rows, n_scores)."""

    @abstractmethod
    def _fit_classifier(self, features: Floats, labels: Labels) -> Any:
        """Fit a classifier to labelled rows."""

    @abstractmethod
    def _classify(self, features: Floats) -> Floats:
        """Return the probabilities of being an outlier that `_classifier` predicts."""

    def _combine(self, probability: Floats, mean_rank: Floats) -> Floats:
        """Return the score, given the classifier's probability and the mean unsupervised rank."""
        return probability

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
        return self._combine(self._classify(np.hstack([table, scores])), mean_rank)
