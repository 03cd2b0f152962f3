"""Classifiers of rows and of what unsupervised detectors say of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest

from imboost.detectors.classic import ClassicDetector, Floats
from imboost.detectors.neighbours import NeighbourDistances
from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels

N_COMPANY = 20
"""Nearest rows that a row's loneliness is measured among."""

SMALL = 1e-6
"""Added to distances that may be 0, in columns from 0 to 1."""


class ViewClassifier(ClassicDetector):
    """Learns from columns and views, the scores of unsupervised detectors.

    Until labels of both kinds are known, the score is the mean rank of the views.
    """

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


class Surroundings:
    """Two looks at rows without labels: how soon they are isolated, and how far others are.

    Parameters
    ----------
    table : array of shape (n_rows, n_features)
        The training rows.
    n_trees : int
        Trees of the isolation forest.
    n_neighbors : int
        The most neighbours that are wanted.
    max_reference_rows : int
        Neighbours are looked for among so many rows at most, drawn at random.
    seed : int
        Of all randomness.
    """

    def __init__(
        self, table: Floats, n_trees: int, n_neighbors: int, max_reference_rows: int, seed: int
    ) -> None:
        self._forest = IsolationForest(n_estimators=n_trees, random_state=seed).fit(table)
        rng = np.random.default_rng(seed)
        self._reference = sample_rows(table, max_reference_rows, rng)
        self.distances = NeighbourDistances(self._reference, n_neighbors)

    def isolation(self, table: Floats) -> NDArray[np.float64]:
        """Return the isolation-forest score of every row, higher for outliers."""
        return np.asarray(-self._forest.score_samples(table))

    def neighbours(
        self, table: Floats, numbers: Sequence[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean distances to so many nearest rows, and how lonely a row is among them.

        The second is the mean distance to the nearest few rows over the same mean of these
        rows themselves: above 1 where they lie closer to each other than to the row.
        """
        means, loneliness = [], []
        for distances, nearest in self.distances.chunks(table):
            means.append(np.column_stack([distances[:, :n].mean(axis=1) for n in numbers]))
            own = distances[:, :N_COMPANY].mean(axis=1)
            theirs = self._company[nearest[:, :N_COMPANY]].mean(axis=1)
            loneliness.append((own + SMALL) / (theirs + SMALL))
        return np.concatenate(means), np.concatenate(loneliness)

    @cached_property
    def _company(self) -> NDArray[np.float64]:
        """Mean distance of every reference row to the rows nearest to it."""
        distances = NeighbourDistances(self._reference, N_COMPANY)(self._reference)
        return np.asarray(distances.mean(axis=1))


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
