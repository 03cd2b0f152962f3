"""Protocols of query strategies."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from imboost.arrays import Floats, Indices
from imboost.decide import Decision
from imboost.labels import Labels

Scores = Floats
Points = Floats
Rng = np.random.Generator


@runtime_checkable
class QueryStrategy(Protocol):
    """Selects the rows to ask about next."""

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return `n` distinct rows of `candidates`, or all if there are fewer.

        Parameters
        ----------
        scores : array of shape (n_rows,)
            A detector's `query_scores_`, one for every training row.
        candidates : array of int
            Rows that may be selected: those without an answer.
        n : int
            Number of rows to select, at least 1.
        rng : numpy Generator
            Source of all randomness.
        """


@runtime_checkable
class AdaptiveStrategy(QueryStrategy, Protocol):
    """A strategy with state, which is updated by the labels of each round."""

    def update(self, round_labels: Labels, all_labels: Labels) -> None:
        """Update the state at the end of a round; every label is INLIER or OUTLIER.

        Parameters
        ----------
        round_labels : array
            Labels of the rows that the strategy selected and that got a label in this round.
        all_labels : array
            All labels that the detector was trained with, in any order; corrections included.
        """


@runtime_checkable
class EmbeddingStrategy(QueryStrategy, Protocol):
    """A strategy that uses distances between rows, not only their scores."""

    def set_embedding(self, points: Points) -> None:
        """Set the rows as points, of shape (n_rows, n_dimensions), before the first selection."""


def needs_embedding(strategy: QueryStrategy) -> bool:
    """Return whether a strategy uses distances between rows.

    A strategy that is made of others says so by an attribute of the same name.
    """
    default = isinstance(strategy, EmbeddingStrategy)
    return bool(getattr(strategy, "needs_embedding", default))


def needs_members(strategy: QueryStrategy) -> bool:
    """Return whether a strategy compares the members of a detector; it says so by an attribute."""
    return bool(getattr(strategy, "needs_members", False))


class FittedDetector(Protocol):
    """What strategies use of a fitted detector besides its scores."""

    decision_: Decision

    def member_proba(self, X: Any) -> Floats:
        """Return each member's outlier probability of the training rows: (members, rows)."""


@runtime_checkable
class DetectorStrategy(QueryStrategy, Protocol):
    """A strategy that uses more of the detector than `query_scores_`."""

    def set_detector(self, detector: FittedDetector, X: Any) -> None:
        """Set the present detector and its training table, before every selection."""
