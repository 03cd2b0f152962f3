"""A trained model as the page shows it: computed once per training, then only read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from imboost.arrays import Floats, Indices
from imboost.decide import Estimate
from imboost.detectors.table_detector import TableDetector
from imboost.errors import SettingError
from imboost.explain import Explanation
from imboost.labelling.groups import find_suspects
from imboost.labels import has_both_classes
from imboost.present.formatting import percent
from imboost.present.pictures import Histogram
from imboost.present.wording import advice_text
from imboost.session import Answer, Session


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Scores, decisions and estimates of one training.

    Parameters
    ----------
    detector : TableDetector
        Not changed any more: later trainings use a copy.
    round : int
    scores : array of shape (n_rows,)
    ranks : array of shape (n_rows,)
        Ranks in the complete table; 1 is the highest score.
    probabilities : array of shape (n_rows,)
    threshold : float
    suspects : array of int
        Rows that may be offered as a group, see `find_suspects`.
    picture : Histogram
    n_called : int
        Rows that are called outliers.
    precision, missed, advice : str
        The estimates as text.
    should_stop : bool
    doubtful : list of (int, Answer, float)
        As `Session.doubtful_answers` returns them.
    """

    detector: TableDetector
    round: int
    scores: Floats
    ranks: Indices
    probabilities: Floats
    threshold: float
    suspects: Indices
    picture: Histogram
    n_called: int
    precision: str
    missed: str
    advice: str
    should_stop: bool
    doubtful: list[tuple[int, Answer, float]]

    @classmethod
    def take(cls, session: Session) -> Snapshot:
        """Compute everything from the session's present model."""
        detector = cast("TableDetector", session.detector)
        scores = detector.decision_scores_
        ranks = _rank(scores, session.weights)
        outcome = session.outcome()
        is_estimable = has_both_classes(detector.decision_.labels)
        return cls(
            detector=detector,
            round=session.round,
            scores=scores,
            ranks=ranks,
            probabilities=detector.decision_.probability(scores),
            threshold=detector.threshold_,
            suspects=find_suspects(scores, detector.threshold_),
            picture=Histogram.of_scores(scores),
            n_called=outcome.n_predicted,
            precision=_write(outcome.precision, percent) if is_estimable else "",
            missed=_write(outcome.n_missed, "{:,.0f}".format) if is_estimable else "",
            advice=advice_text(outcome),
            should_stop=outcome.should_stop,
            doubtful=session.doubtful_answers(),
        )


def _rank(scores: Floats, weights: Floats | None) -> Indices:
    """Return the rank of every row; with weights, among the rows that they stand for."""
    order = np.argsort(-scores, kind="stable")
    ranks = np.empty(len(scores), dtype=np.int64)
    sizes = np.ones(len(scores)) if weights is None else weights[order]
    ranks[order] = np.cumsum(sizes) - sizes + 1
    return ranks


def _write(estimate: Estimate, write: Callable[[float], str]) -> str:
    """Write an estimate with its interval; nothing if there is none."""
    if np.isnan(estimate.value):
        return ""
    return f"{write(estimate.value)} ({write(estimate.low)} to {write(estimate.high)})"


class Explainer:
    """Explanations of rows by one snapshot, each computed once."""

    def __init__(self, snapshot: Snapshot, session: Session) -> None:
        self._snapshot = snapshot
        self._table = session.X
        self._found: dict[int, Explanation] = {}
        self._lock = threading.Lock()

    def get(self, row: int) -> Explanation | None:
        """Return the explanation of a row if it has been computed."""
        return self._found.get(row)

    def explain(self, rows: list[int]) -> list[Explanation]:
        """Return the explanations of rows, computing those that are not known yet."""
        with self._lock:
            missing = [row for row in rows if row not in self._found]
            if missing:
                self._found.update(zip(missing, self._compute(missing), strict=True))
        return [self._found[row] for row in rows]

    def _compute(self, rows: list[int]) -> list[Explanation]:
        try:
            return self._snapshot.detector.explain(self._table.take(rows))
        except SettingError:  # the detector cannot attribute its scores to columns
            scores = self._snapshot.scores[rows].tolist()
            return [Explanation(score, 0.0, score, is_exact=False, reasons=[]) for score in scores]
