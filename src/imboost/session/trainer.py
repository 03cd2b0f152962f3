"""Trains the model of a session: its detector, fitted to the table and refined by each round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from imboost.arrays import Floats, Indices
from imboost.detectors.detector import Detector
from imboost.errors import TrainingError
from imboost.explain import Explanation
from imboost.labels import Labels, unlabelled
from imboost.scoring.table_sample import TableSample
from imboost.scoring.training_time import estimate_seconds
from imboost.session.rows import RowIds
from imboost.session.state import TrainingSet

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector


@dataclass(frozen=True, eq=False)
class Model:
    """A trained detector and what follows from the scores of its rows.

    Parameters
    ----------
    detector : Detector
    n_trainings : int
        Number of rounds that it was trained with.
    """

    detector: Detector
    n_trainings: int

    @cached_property
    def ranks(self) -> Indices:
        """The rank of every row in the complete table; 1 is the highest score, ties share it."""
        return rank(self.detector.decision_scores_, self.detector.decision_.weights)

    def score_and_rank(self, position: int) -> tuple[float, int]:
        """Return the score of the row at a position, and its rank."""
        return float(self.detector.decision_scores_[position]), int(self.ranks[position])


def rank(scores: Floats, weights: Floats | None = None) -> Indices:
    """Return competition ranks: 1 plus the number of rows with a higher score.

    >>> rank(np.array([0.9, 0.5, 0.5, 0.1])).tolist()
    [1, 2, 2, 4]
    """
    levels, level_of_row = np.unique(scores, return_inverse=True)
    counts = np.bincount(level_of_row, weights, minlength=len(levels))
    n_above = counts.sum() - np.cumsum(counts)
    ranks: Indices = np.round(n_above).astype(np.int64)[level_of_row] + 1
    return ranks


class LocalTrainer:
    """Trains in the calling thread; `imboost.session.worker.WorkerTrainer` in another process.

    Parameters
    ----------
    detector : Detector
        Not changed.
    X : table or array
    rows : RowIds
        The positions of rows in `X`.
    pool : TableSample, optional
        The candidate pool that `X` is, of a large table.
    """

    def __init__(
        self, detector: Detector, X: Any, rows: RowIds, pool: TableSample | None = None
    ) -> None:
        self._unfitted, self._X, self._rows, self._pool = detector, X, rows, pool
        self._model: Detector | None = None
        self._trained_with: list[int] = []  # numbers of entries of the training sets

    def train(self, training_sets: Sequence[TrainingSet]) -> Detector:
        """Return the detector trained with all rounds so far.

        Only rounds that the last model does not know are trained; of a detector whose history
        does not matter, only the last round.
        """
        is_history = self._unfitted.refine_depends_on_history
        wanted = training_sets if is_history else training_sets[-1:]
        numbers = [one.n_entries for one in wanted]
        model, n_known = self._model, len(self._trained_with)
        if model is None or (is_history and numbers[:n_known] != self._trained_with):
            weights = self._weights(unlabelled(len(self._rows)))
            model, n_known = self._unfitted.copy().fit(self._X, weights=weights), 0
            self._model, self._trained_with = model, []
        if numbers == self._trained_with:
            return model
        model = model.copy()
        for training_set in wanted[n_known:] if is_history else wanted:
            self._refine(model, training_set)
        self._model, self._trained_with = model, numbers
        return model

    def explain(self, positions: Sequence[int]) -> list[Explanation]:
        """Return explanations of rows of an Arrow table by the last model."""
        if self._model is None:
            raise TrainingError("There is no model yet that could explain rows.")
        model = cast("TableDetector", self._model)
        return model.explain(self._X.take(positions))

    def estimate_seconds(self) -> float | None:
        """Return the expected seconds of the first training of a table; None if unknown."""
        return estimate_seconds(self._unfitted, self._X)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _refine(self, model: Detector, training_set: TrainingSet) -> None:
        labels = self._rows.labels(training_set.labels)
        is_audit = np.zeros(len(labels), dtype=bool)
        is_audit[self._rows.positions(training_set.audited)] = True
        model.refine(self._X, labels, is_audit=is_audit, weights=self._weights(labels))

    def _weights(self, labels: Labels) -> Floats | None:
        """Return how many rows of the complete table each row stands for."""
        return None if self._pool is None else self._pool.weights(labels)
