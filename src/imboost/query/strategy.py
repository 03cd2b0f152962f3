"""What a session asks of a query strategy."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from imboost.labels import Labels

Indices = NDArray[np.int64]
Scores = NDArray[np.float64]


class QueryStrategy(Protocol):
    """Chooses the rows to ask about next."""

    def select(
        self, scores: Scores, candidates: Indices, n: int, rng: np.random.Generator
    ) -> Indices:
        """Return `n` distinct rows out of `candidates`, or all where there are no more.

        Parameters
        ----------
        scores : array of shape (n_rows,)
            A detector's `query_scores_`, one for every training row.
        candidates : array of int
            Rows that may be asked: not answered yet.
        n : int
            How many rows to choose, at least 1.
        rng : numpy Generator
            Source of all randomness.
        """
        ...


@runtime_checkable
class AdaptiveStrategy(QueryStrategy, Protocol):
    """A strategy that keeps state between rounds: what it learned from the answers."""

    def update(self, round_labels: Labels, all_labels: Labels) -> None:
        """Take what is known when a round has ended, each answer INLIER or OUTLIER.

        Parameters
        ----------
        round_labels : array
            The answers about the rows that the strategy chose for this round.
        all_labels : array
            All answers that the detector has learned from by now, in no order; a correction
            may have changed earlier ones.
        """
        ...


@runtime_checkable
class EmbeddingStrategy(QueryStrategy, Protocol):
    """A strategy that looks at the rows themselves, not at their scores alone."""

    def set_embedding(self, points: NDArray[np.float64]) -> None:
        """Take the table, of shape (n_rows, n_features), before the first choice."""
        ...
