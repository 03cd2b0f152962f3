"""Which rows a session asks about: those that a query strategy selects, and an audit."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from imboost.arrays import Indices
from imboost.detectors.detector import Detector
from imboost.query import AdaptiveStrategy, EmbeddingStrategy, QueryStrategy, as_strategy
from imboost.session.state import AUDIT, TrainingSet
from imboost.validation import check_number


class RowSelection:
    """Selects rows by a query strategy, a copy of that given, and draws an audit.

    Parameters
    ----------
    query : str or QueryStrategy
    audit_share : float
        Fraction of the rows that are drawn at random, half of them from above the threshold.
    """

    def __init__(self, query: str | QueryStrategy, audit_share: float) -> None:
        check_number("audit_share", audit_share, minimum=0.0, maximum=1.0)
        self.strategy = deepcopy(as_strategy("query", query))
        self.name = query if isinstance(query, str) else type(query).__name__  # in the log
        self.audit_share = audit_share
        self.seed = 0  # of all randomness, with the numbers of rounds and of questions so far
        self.n_updates = 0  # number of finished rounds whose labels the strategy knows
        self._is_embedded = False
        self._trained_rows: set[int] = set()

    def select(
        self,
        candidates: Indices,
        detector: Detector,
        X: Any,
        n: int,
        *,
        n_rounds: int,
        n_asked: int,
    ) -> list[tuple[int, str]]:
        """Return the positions of up to `n` rows, each with the strategy's name or "audit".

        Parameters
        ----------
        candidates : array of int
            Positions of rows that can be asked about.
        detector : Detector
            The present model.
        X : table or array
            The rows that it was trained on.
        n : int
        n_rounds, n_asked : int
            Number of trainings and of questions so far.
        """
        rng = np.random.default_rng([self.seed, n_rounds, n_asked])
        audit = candidates[:0]
        if self.audit_share:
            audit = self.draw_audit(detector, candidates, n, rng)
        others = np.setdiff1d(candidates, audit, assume_unique=True)
        n_others = min(n - len(audit), len(others))
        if isinstance(self.strategy, EmbeddingStrategy) and not self._is_embedded:
            self.strategy.set_embedding(detector.embed(X))
            self._is_embedded = True
        selected = audit[:0]
        if n_others:
            selected = self.strategy.select(detector.query_scores_, others, n_others, rng)
        return [(int(row), self.name) for row in selected] + [(int(row), AUDIT) for row in audit]

    def draw_audit(
        self, detector: Detector, candidates: Indices, n: int, rng: np.random.Generator
    ) -> Indices:
        """Draw the audit rows among `n` questions, half of them from above the threshold."""
        n = min(int(self.audit_share * n + rng.random()), len(candidates))
        is_above = detector.decision_scores_[candidates] > detector.threshold_
        above, below = (rng.permutation(candidates[side]) for side in (is_above, ~is_above))
        n_above = (n + int(rng.integers(2))) // 2
        n_above = min(max(n_above, n - len(below)), len(above))
        return np.concatenate([above[:n_above], below[: n - n_above]])

    def update(self, training_set: TrainingSet) -> None:
        """Pass the labels of a finished round to a strategy with state.

        The labels of the round are those of rows that the strategy selected and that no earlier
        round was trained with.
        """
        self.n_updates += 1
        if isinstance(self.strategy, AdaptiveStrategy):
            labels = training_set.labels
            new = [labels[row] for row in training_set.selected if row not in self._trained_rows]
            known = [labels[row] for row in sorted(labels)]
            self.strategy.update(np.array(new, np.int8), np.array(known, np.int8))
            self._trained_rows.update(labels)


def questions_per_round(n_rows: int) -> int:
    """Return the paper's budget of a round: 1% of the rows, 6 for at most 500 rows.

    >>> questions_per_round(2640), questions_per_round(300)
    (26, 6)
    """
    return min(6, n_rows) if n_rows <= 500 else int(0.01 * n_rows)


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed that can be logged and used again."""
    return int(check_random_state(random_state).randint(2**31 - 1))
