"""Classifiers of rows and of what unsupervised detectors say of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.shallow.base import ClassicDetector, Floats
from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels


class ViewClassifier(ClassicDetector):
    """Learns from columns and views, the scores of unsupervised detectors.

    Until labels of both kinds are known, the score is the mean rank of the views.
    """

    training_only = ("_training_views",)

    @abstractmethod
    def _fit_views(self, table: Floats) -> None:
        """Train the unsupervised detectors."""

    @abstractmethod
    def _views(self, table: Floats) -> NDArray[np.float64]:
        """Return what they say of rows: (rows, views)."""

    @abstractmethod
    def _new_classifier(self) -> Any:
        """Return an untrained classifier of columns and views."""

    def _combine(
        self, share: NDArray[np.float64], rank: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the score, given the classifier's probability and the mean rank of the views."""
        return share

    def _build(self, table: Floats) -> None:
        self._fit_views(table)
        self._training_views = self._views(table)
        self._ranks = RankScale(self._training_views)

    def _learn(self, table: Floats, labels: Labels) -> None:
        self._classifier: Any = None
        if not has_both_classes(labels):
            return
        known = labels != UNLABELLED
        features = np.hstack([table[known], self._training_views[known]])
        self._classifier = self._new_classifier().fit(features, labels[known])

    def _judge(self, table: Floats) -> NDArray[np.float64]:
        return self._judge_views(table, self._views(table))

    def _score_training(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return self._judge_views(self._table(X), self._training_views)

    def _judge_views(self, table: Floats, views: NDArray[np.float64]) -> NDArray[np.float64]:
        rank = self._ranks.mean_rank(views)
        if self._classifier is None:
            return rank
        share = self._classifier.predict_proba(np.hstack([table, views]))[:, 1]
        return self._combine(np.asarray(share, dtype=np.float64), rank)


def has_both_classes(labels: Labels) -> bool:
    """Whether a classifier could be trained on the labels."""
    return bool((labels == INLIER).any() and (labels == OUTLIER).any())


class RankScale:
    """Puts scores of several detectors on one scale: their ranks among the training rows.

    Parameters
    ----------
    scores : array of shape (n_rows, n_detectors)
        Scores of the training rows.

    Examples
    --------
    >>> ranking = RankScale(np.array([[0.0], [1.0], [2.0], [3.0]]))
    >>> ranking.mean_rank(np.array([[-5.0], [1.0], [1.5], [9.0]])).tolist()
    [0.0, 0.375, 0.5, 1.0]
    """

    def __init__(self, scores: NDArray[np.float64]) -> None:
        self._sorted = np.sort(scores, axis=0)

    def ranks(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each row and detector the share of training rows below it."""
        parts = []
        for column, known in zip(scores.T, self._sorted.T, strict=True):
            below = np.searchsorted(known, column, side="left")
            not_above = np.searchsorted(known, column, side="right")
            parts.append((below + not_above) / (2 * len(known)))
        return np.column_stack(parts)

    def mean_rank(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ranks averaged over detectors."""
        return np.asarray(self.ranks(scores).mean(axis=1))
