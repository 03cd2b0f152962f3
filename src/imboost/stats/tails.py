"""Tail probabilities of the scores of a column, on a scale that columns share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imboost.arrays import Floats

TAIL_QUANTILES = (0.90, 0.98)
"""The exponential tail is fitted between these quantiles and begins at the second. Errors are
hardly ever so frequent in one column that they reach it."""

MIN_TAIL_SCALE = 0.05  # of the tail, so that columns of nearly equal scores are finite
MAX_KNOTS = 1000  # scores of a column between which probabilities are interpolated


@dataclass(frozen=True, eq=False)
class TailScore:
    """The negative log of the share of training scores that are at least as high.

    With an exponential tail, the score of a value far beyond the training scores does not
    saturate. Without one, it ends at the log of the number of training scores.

    >>> tail = TailScore.fit(np.linspace(0, 1, 101), is_unbounded=True)
    >>> tail(np.array([0.0, 0.5, 1.0, 3.0])).round(1).tolist()
    [0.0, 0.7, 4.3, 44.6]
    """

    values: Floats  # distinct training scores in ascending order
    levels: Floats  # their negative log tail probabilities
    slope: float  # increase beyond the last of them; 0 without an exponential tail

    @classmethod
    def fit(cls, scores: Floats, *, is_unbounded: bool) -> TailScore:
        """Fit to the scores of the training cells that are known; there may be none."""
        if len(scores) == 0:
            return cls(np.zeros(1), np.zeros(1), 0.0)
        distinct, counts = np.unique(scores, return_counts=True)
        n_above = len(scores) - np.cumsum(counts) + counts  # at least as high
        levels = -np.log(n_above / len(scores))
        slope = 0.0
        if is_unbounded:
            low, high = np.quantile(scores, TAIL_QUANTILES)
            low_level, high_level = -np.log1p(-np.array(TAIL_QUANTILES))
            slope = float((high_level - low_level) / max(high - low, MIN_TAIL_SCALE))
            is_body = distinct < high
            distinct = np.append(distinct[is_body], high)
            levels = np.append(np.minimum(levels[is_body], high_level), high_level)
        kept = np.linspace(0, len(distinct) - 1, min(len(distinct), MAX_KNOTS)).astype(int)
        return cls(distinct[kept], levels[kept], slope)

    def __call__(self, scores: Floats) -> Floats:
        """Return the negative log tail probabilities of scores."""
        inside = np.interp(scores, self.values, self.levels)
        return np.asarray(inside + self.slope * np.maximum(scores - self.values[-1], 0.0))
