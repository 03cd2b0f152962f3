"""Protocols of query strategies."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from imboost.arrays import Floats, Indices
from imboost.labels import Labels

Scores = Floats
Rng = np.random.Generator


@runtime_checkable
class QueryStrategy(Protocol):
    """Selects the rows to ask about next."""

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return `n` distinct rows of `candidates`, or all if there are fewer.

        `scores` are a detector's `query_scores_` of all training rows, `candidates` the rows that
        have no answer, and `rng` is the source of all randomness.
        """


@runtime_checkable
class AdaptiveStrategy(QueryStrategy, Protocol):
    """A strategy with state, which is updated by the labels of each round."""

    def update(self, round_labels: Labels, all_labels: Labels) -> None:
        """Update the state at the end of a round; every label is INLIER or OUTLIER.

        `round_labels` are those of rows that the strategy selected and that got a label in this
        round, `all_labels` those that the detector was trained with, in any order.
        """


@runtime_checkable
class EmbeddingStrategy(QueryStrategy, Protocol):
    """A strategy that uses distances between rows, not only their scores."""

    def set_embedding(self, points: Floats) -> None:
        """Set the rows as points, of shape (n_rows, n_dimensions), before the first selection."""
