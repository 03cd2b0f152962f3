"""Ranks of values among the training rows, and of outliers among scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.metrics import average_precision_score, roc_auc_score

from imboost.arrays import Floats, Indices
from imboost.labels import OUTLIER, UNLABELLED, Labels, has_both_classes

MAX_KNOTS = 10_000  # values of a column between which ranks are interpolated


@dataclass(frozen=True, eq=False)
class RankTransform:
    """Replace values by their ranks among the training rows, column by column.

    The rank of a training value is the share of training rows below it, where ties count
    half. Ranks of other values are interpolated, so that a small change of a value never makes
    a large change of its rank.

    >>> ranks = RankTransform.fit(np.array([[0.0], [1.0], [1.0], [3.0]]))
    >>> ranks.transform(np.array([[-5.0], [1.0], [2.0], [9.0]])).ravel().tolist()
    [0.125, 0.5, 0.6875, 0.875]
    """

    values: Floats  # distinct training values in ascending order, one column after the other
    ranks: Floats  # ranks of these values
    starts: Indices  # where the columns begin in these arrays, and the end

    @classmethod
    def fit(cls, X: Floats) -> Self:
        """Rank the training values, an array of shape (n_rows, n_columns)."""
        values, ranks = [], []
        for column in X.T:
            distinct, counts = np.unique(column, return_counts=True)
            kept = np.linspace(0, len(distinct) - 1, min(len(distinct), MAX_KNOTS)).astype(int)
            values.append(distinct[kept])
            ranks.append(((np.cumsum(counts) - counts / 2) / len(X))[kept])
        starts = np.cumsum([0, *(len(column) for column in values)])
        return cls(np.concatenate(values), np.concatenate(ranks), starts)

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the rank of every value, above 0 and below 1.

        Columns with at most two values, such as one-hot columns, are computed all at once.
        """
        first, last = self.starts[:-1], self.starts[1:] - 1
        precision = np.result_type(X, np.float32)
        low, high = (self.values[at].astype(precision) for at in (first, last))
        with np.errstate(over="ignore"):
            width = high - low
        # Other columns, and too narrow or too wide ones, are interpolated.
        is_simple = (last - first < 2) & np.isfinite(width)
        is_simple &= (first == last) | (width > np.finfo(precision).tiny)
        ranks: NDArray[Any] = np.empty(X.shape, dtype=precision)
        simple = np.flatnonzero(is_simple)
        if len(simple):
            part = np.clip(X.take(simple, axis=1), low[simple], high[simple])
            part -= low[simple]
            part /= np.where(width[simple] > 0, width[simple], 1)
            lowest, highest = (self.ranks[at[simple]].astype(precision) for at in (first, last))
            part *= highest - lowest
            part += lowest
            ranks[:, simple] = part
        for number in np.flatnonzero(~is_simple):
            knots = slice(self.starts[number], self.starts[number + 1])
            ranks[:, number] = np.interp(X[:, number], self.values[knots], self.ranks[knots])
        return ranks


class NormalScores(RankTransform):
    """Replace values by normal scores: the standard normal quantiles of their ranks.

    >>> scores = NormalScores.fit(np.array([[0.0], [1.0], [1.0], [3.0]]))
    >>> scores.transform(np.array([[1.0], [9.0]])).ravel().round(2).tolist()
    [0.0, 1.15]
    """

    @classmethod
    def fit(cls, X: Floats) -> Self:
        """Rank the training values, an array of shape (n_rows, n_columns)."""
        ranks = super().fit(X)
        return cls(ranks.values, ndtri(ranks.ranks), ranks.starts)


def auc_and_ap(labels: Labels, scores: Floats) -> tuple[float, float]:
    """Return the area under the ROC curve and the average precision of the labelled rows.

    Both are nan without labels of both classes.

    >>> auc_and_ap(np.array([0, -1, 0, 1]), np.array([0.1, 0.9, 0.2, 0.3]))
    (1.0, 1.0)
    """
    if not has_both_classes(labels):
        return float("nan"), float("nan")
    known = labels != UNLABELLED
    is_outlier, known_scores = labels[known] == OUTLIER, scores[known]
    return (
        float(roc_auc_score(is_outlier, known_scores)),
        float(average_precision_score(is_outlier, known_scores)),
    )
