"""Detectors without a network, built on libraries of the field."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.data.scaling import UnitScaling
from imboost.detectors.base import BaseDetector
from imboost.labels import INLIER, OUTLIER, Labels

Floats = NDArray[np.float64]


class ClassicDetector(BaseDetector):
    """Scales the table and looks at it without labels once; learns from labels every round.

    Everything here computes on the CPU; `device` is accepted as everywhere.
    """

    def _train(self, X: NDArray[Any], labels: Labels) -> None:
        self._scaling = UnitScaling.fit(X)
        table = self._scaling.apply(X)
        self._report(f"building on {len(X)} rows")
        self._build(table)
        self._training_views = self._views(table)
        self._learn(table, self._training_views, labels)

    def _train_further(self, X: NDArray[Any], labels: Labels) -> None:
        self._learn(self._scaling.apply(X), self._training_views, labels)

    def _score(self, X: NDArray[Any]) -> NDArray[np.float64]:
        table = self._scaling.apply(X)
        return self._judge(table, self._views(table))

    def _score_training(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return self._judge(self._scaling.apply(X), self._training_views)

    @abstractmethod
    def _build(self, table: Floats) -> None:
        """Prepare what depends on the rows alone."""

    def _views(self, table: Floats) -> NDArray[np.float64]:
        """Return what unsupervised detectors say of the rows: (rows, views), maybe none."""
        return np.empty((len(table), 0))

    @abstractmethod
    def _learn(self, table: Floats, views: NDArray[np.float64], labels: Labels) -> None:
        """Learn from all labels known by now; there may be none."""

    @abstractmethod
    def _judge(self, table: Floats, views: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the outlier score of every row of a scaled table."""


def sample_rows(table: Floats, n_rows: int, rng: np.random.Generator) -> Floats:
    """Return at most `n_rows` rows of a table, drawn at random, in their order."""
    n_drawn = min(len(table), n_rows)
    return table[np.sort(rng.choice(len(table), n_drawn, replace=False))]


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

    def mean_rank(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each row the share of training rows below it, averaged over detectors."""
        total: NDArray[np.float64] = np.zeros(len(scores))
        for column, known in zip(scores.T, self._sorted.T, strict=True):
            below = np.searchsorted(known, column, side="left")
            not_above = np.searchsorted(known, column, side="right")
            total += (below + not_above) / (2 * len(known))
        return np.asarray(total / scores.shape[1])
