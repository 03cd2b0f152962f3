"""A trained model as the page shows it: computed once per training, then only read."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from markupsafe import Markup

from imboost.decide import Estimate
from imboost.detectors.table_detector import TableDetector
from imboost.errors import SettingError, TrainingError
from imboost.explain import Explanation
from imboost.labelling.columns import find_suspects
from imboost.labels import has_both_classes
from imboost.present.formatting import percent
from imboost.present.pictures import Histogram
from imboost.present.wording import advice_text
from imboost.session import Session


class Snapshot:
    """Scores, decisions and estimates of a session's present model; later trainings use a copy.

    Ranks and predicted outliers are those of the complete table; `suspects` are rows that may be
    offered as a group, `doubtful` is as from `Session.doubtful_answers`, and `explanations` are
    those that have been computed, by row.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.detector = cast("TableDetector", session.detector)
        self.round, self.ranks = session.round, session.ranks
        decision, outcome = self.detector.decision_, session.outcome()
        self.scores, self.threshold = self.detector.decision_scores_, self.detector.threshold_
        self.probabilities = decision.probability(self.scores)
        self.suspects = find_suspects(self.scores, self.threshold)
        self._picture = Histogram.of_scores(self.scores)
        self.n_predicted = outcome.n_predicted
        is_estimable = has_both_classes(decision.labels)
        self.precision = _write(outcome.precision, percent) if is_estimable else ""
        self.missed = _write(outcome.n_missed, "{:,.0f}".format) if is_estimable else ""
        self.advice, self.should_stop = advice_text(outcome), outcome.should_stop
        self.doubtful = session.doubtful_answers()
        self.explanations: dict[int, Explanation] = {}

    def draw(self, label: str, **marks: float) -> Markup:
        """Draw the scores of all rows with the threshold and other marks."""
        return self._picture.draw(label, threshold=self.threshold, **marks)

    def explain(self, row: int) -> Explanation:
        """Return the explanation of a row, computed in this thread if it is not known yet."""
        if row not in self.explanations:
            self._add([row], lambda at: self.detector.explain(self._session.X.take(at)))
        return self.explanations[row]

    def prepare(self, rows: list[int]) -> None:
        """Let the session's trainer, whose model must be that of the snapshot, explain rows."""
        try:
            if rows:
                self._add(rows, self._session.trainer.explain)
        except TrainingError:  # a new process has no model before it has trained
            for row in rows:
                self.explain(row)

    def _add(self, rows: list[int], explain: Callable[[list[int]], list[Explanation]]) -> None:
        positions = self._session.rows.positions(rows)
        try:
            explanations = explain(positions)
        except SettingError:  # the detector cannot attribute its scores to columns
            explanations = [
                Explanation(score, 0.0, score, is_exact=False, reasons=[])
                for score in self.scores[positions].tolist()
            ]
        self.explanations.update(zip(rows, explanations, strict=True))


def _write(estimate: Estimate, write: Callable[[float], str]) -> str:
    """Write an estimate with its interval; nothing if there is none."""
    if np.isnan(estimate.value):
        return ""
    return f"{write(estimate.value)} ({write(estimate.low)} to {write(estimate.high)})"
