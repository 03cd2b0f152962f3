"""A trained model as the page shows it: computed once per training, then only read."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from imboost.decide import Estimate
from imboost.detectors.table_detector import TableDetector
from imboost.errors import SettingError
from imboost.explain import Explanation
from imboost.labelling.groups import find_suspects
from imboost.labels import has_both_classes
from imboost.present.formatting import percent
from imboost.present.pictures import Histogram
from imboost.present.wording import advice_text
from imboost.session import Session


class Snapshot:
    """Scores, decisions and estimates of a session's present model; later trainings use a copy.

    Attributes
    ----------
    detector : TableDetector
    round : int
    scores, probabilities : array of shape (n_rows,)
    ranks : array of shape (n_rows,)
        Ranks in the complete table; 1 is the highest score.
    threshold : float
    suspects : array of int
        Rows that may be offered as a group, see `find_suspects`.
    picture : Histogram
    n_predicted : int
        Predicted outliers in the complete table.
    precision, missed, advice : str
        The estimates as text.
    should_stop : bool
    doubtful : list of (int, Answer, float)
        As `Session.doubtful_answers` returns them.
    """

    def __init__(self, session: Session) -> None:
        self.detector = cast("TableDetector", session.detector)
        self.round, self.ranks = session.round, session.ranks
        decision, outcome = self.detector.decision_, session.outcome()
        self.scores, self.threshold = self.detector.decision_scores_, self.detector.threshold_
        self.probabilities = decision.probability(self.scores)
        self.suspects = find_suspects(self.scores, self.threshold)
        self.picture = Histogram.of_scores(self.scores)
        self.n_predicted = outcome.n_predicted
        is_estimable = has_both_classes(decision.labels)
        self.precision = _write(outcome.precision, percent) if is_estimable else ""
        self.missed = _write(outcome.n_missed, "{:,.0f}".format) if is_estimable else ""
        self.advice, self.should_stop = advice_text(outcome), outcome.should_stop
        self.doubtful = session.doubtful_answers()


def _write(estimate: Estimate, write: Callable[[float], str]) -> str:
    """Write an estimate with its interval; nothing if there is none."""
    if np.isnan(estimate.value):
        return ""
    return f"{write(estimate.value)} ({write(estimate.low)} to {write(estimate.high)})"


class Explainer:
    """Explanations of rows by one snapshot, each computed once."""

    def __init__(self, snapshot: Snapshot, session: Session) -> None:
        self._snapshot, self._session = snapshot, session
        self._known: dict[int, Explanation] = {}

    def get(self, row: int) -> Explanation | None:
        """Return the explanation of a row if it has been computed."""
        return self._known.get(row)

    def explain(self, row: int) -> Explanation:
        """Return the explanation of a row, computed in this thread if it is not known yet."""
        if row not in self._known:
            table = self._session.X
            self._add([row], lambda at: self._snapshot.detector.explain(table.take(at)))
        return self._known[row]

    def prepare(self, rows: list[int]) -> None:
        """Let the session's trainer, whose model must be that of the snapshot, explain rows."""
        if rows:
            self._add(rows, self._session.trainer.explain)

    def _add(self, rows: list[int], explain: Callable[[list[int]], list[Explanation]]) -> None:
        positions = self._session.rows.positions(rows)
        try:
            explanations = explain(positions)
        except SettingError:  # the detector cannot attribute its scores to columns
            scores = self._snapshot.scores[positions].tolist()
            explanations = [
                Explanation(score, 0.0, score, is_exact=False, reasons=[]) for score in scores
            ]
        self._known.update(zip(rows, explanations, strict=True))
