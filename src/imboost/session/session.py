"""The session: an ask-and-tell interface to a detector, its rows and a query strategy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from imboost.decide import Advice, Outcome, advise, estimate_outcome
from imboost.detectors.protocol import Detector
from imboost.errors import SessionError
from imboost.labels import UNLABELLED, Labels, unlabelled
from imboost.query import AdaptiveStrategy, EmbeddingStrategy, QueryStrategy, make_strategy
from imboost.session.answers import Answer
from imboost.session.fingerprint import fingerprint
from imboost.session.log import Answered, Asked, Entry, MemoryLog, Refined, SessionLog, Started
from imboost.validation import check_number

AUDIT = "audit"  # logged in place of a strategy's name for rows drawn at random


def questions_per_round(n_rows: int) -> int:
    """Return the paper's budget of a round: 1% of the rows, 6 for at most 500 rows.

    >>> questions_per_round(2640), questions_per_round(300)
    (26, 6)
    """
    return min(6, n_rows) if n_rows <= 500 else int(0.01 * n_rows)


class Session:
    """Active learning on the rows of one table.

    The detector is cloned and trained at the first `ask`. A session that gets a log with entries
    continues exactly where that log ends: the seeds are in the log, and the model is trained
    again round by round.

    Parameters
    ----------
    detector : Detector
        Not changed; the session trains a copy, `session.detector`.
    X : array-like of shape (n_rows, n_features)
        The table; for a `TableDetector` a data frame, an Arrow table or a path. A row's id is
        its position.
    query : str or QueryStrategy, optional
        Selects the rows to ask about; the detector's default if not given. A strategy object is
        copied; one with state is updated again from the log.
    log : SessionLog, optional
        Stores questions and answers; in memory if not given.
    audit_share : float
        Fraction of the questions that are an audit: rows drawn at random, half of them from
        those above the threshold, instead of selected by the strategy. They show how unlabelled
        rows differ from selected ones, and make the intervals of `outcome` narrower.
    random_state : int, RandomState or None
        Source of the strategy's randomness.

    Examples
    --------
    >>> from imboost import IMBoost, Session
    >>> from imboost.datasets import planted_outliers
    >>> data = planted_outliers(300)
    >>> session = Session(IMBoost(random_state=0), data.X, random_state=0)
    >>> rows = session.ask(4)
    >>> session.tell(rows, ["outlier" if data.y[row] else "inlier" for row in rows])
    >>> session.refine().round
    1
    """

    def __init__(
        self,
        detector: Detector,
        X: Any,
        *,
        query: str | QueryStrategy | None = None,
        log: SessionLog | None = None,
        audit_share: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        check_number("audit_share", audit_share, minimum=0.0, maximum=1.0)
        self.audit_share = audit_share
        self.X = _read(X)
        self._n_rows, n_features = _shape_of(self.X)
        self.detector: Detector = clone(detector)
        query = query or detector.default_query
        self._strategy = make_strategy(query) if isinstance(query, str) else deepcopy(query)
        self._strategy_name = query if isinstance(query, str) else type(query).__name__
        self._log: SessionLog = MemoryLog() if log is None else log
        self._history: list[Answered] = []
        self._answers: dict[int, Answered] = {}  # the last answer about each row
        self._open: dict[int, Asked] = {}
        self._asked_in: dict[int, int] = {}  # the last round in which a row was asked
        self._audited: set[int] = set()
        self._trainings: list[tuple[int, frozenset[int]]] = []  # n_answers and audit rows of each
        self._n_asked = 0
        self._is_trained = False
        self.round = 0
        table = (self._n_rows, n_features, fingerprint(self.X))
        if not any(True for _ in self._log):
            given = detector.random_state
            detector_seed = given if isinstance(given, int) else _draw_seed(given)
            seeds = (detector_seed, _draw_seed(random_state))
            self._log.append([Started(*table, *seeds, datetime.now(UTC))])
        self._replay(*table)

    @property
    def labels(self) -> Labels:
        """Label of every row: 0, 1, or -1 if it has no answer that decides it."""
        return self._labels_after(len(self._history))

    @property
    def answers(self) -> dict[int, Answer]:
        """The last answer about each answered row."""
        return {row: entry.answer for row, entry in self._answers.items()}

    @property
    def counts(self) -> Counter[Answer]:
        """Number of rows with each answer."""
        return Counter(self.answers.values())

    @property
    def open_questions(self) -> list[int]:
        """Rows that were asked and have no answer yet."""
        return list(self._open)

    @property
    def n_left(self) -> int:
        """Number of rows that can still be asked about in this round."""
        return len(self._candidates())

    def start(self) -> Session:
        """Train the model up to the end of the log: without answers, then round by round.

        Does nothing if the model is up to date; it is not if the session was reopened or a
        training was interrupted.
        """
        if self._is_trained:
            return self
        self.detector.fit(self.X)
        if isinstance(self._strategy, EmbeddingStrategy):
            self._strategy.set_embedding(self.detector.embed(self.X))
        for n_answers, audited in self._trainings:
            self._refine_detector(n_answers, audited)
        self._is_trained = True
        return self

    def ask(self, n: int | None = None) -> list[int]:
        """Return rows to ask about; the same ones again until each has an answer.

        Parameters
        ----------
        n : int, optional
            Number of rows; by default 1% of the table, 6 for a small one.

        Raises
        ------
        SessionError
            If no row is left to ask about.
        """
        self.start()
        if self._open:
            return self.open_questions
        n = questions_per_round(self._n_rows) if n is None else n
        check_number("n", n, minimum=1, whole=True)
        candidates = self._candidates()
        if len(candidates) == 0:
            raise SessionError("No row is left to ask about: each has an answer.")
        scores = self.detector.query_scores_
        rng = np.random.default_rng([self._seed, self.round, self._n_asked])
        audit = self._draw_audit(candidates, n, rng) if self.audit_share else candidates[:0]
        others = np.setdiff1d(candidates, audit)
        n_others = min(n - len(audit), len(others))
        selected = self._strategy.select(scores, others, n_others, rng) if n_others else audit[:0]
        now = datetime.now(UTC)
        self._record(
            [
                Asked(int(row), self.round, name, float(scores[row]), now)
                for name, rows in ((self._strategy_name, selected), (AUDIT, audit))
                for row in rows
            ]
        )
        return self.open_questions

    def _draw_audit(
        self, candidates: NDArray[np.int64], n: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw the audit rows among `n` questions, half of them from above the threshold."""
        n = min(int(self.audit_share * n + rng.random()), len(candidates))
        is_above = self.detector.decision_scores_[candidates] > self.detector.threshold_
        above, below = (
            rng.permutation(candidates[is_above]),
            rng.permutation(candidates[~is_above]),
        )
        n_above = (n + int(rng.integers(2))) // 2
        n_above = min(max(n_above, n - len(below)), len(above))
        return np.concatenate([above[:n_above], below[: n - n_above]])

    def tell(
        self, rows: Sequence[int], answers: Sequence[Answer | str | int], *, who: str = ""
    ) -> None:
        """Record answers: all of them, or none if this raises.

        Rows need not have been asked, and an answer about an answered row corrects it. It may be
        called from another thread during `refine`, whose training then does not use the answers.

        Parameters
        ----------
        rows : sequence of int
            Ids of the rows.
        answers : sequence
            For each row: inlier, outlier, unsure or skip; 0 and 1 are accepted too.
        who : str
            The person who answered.
        """
        if isinstance(answers, str) or not isinstance(rows, Sequence | np.ndarray):
            raise SessionError("tell takes a list of rows and a list of answers.")
        ids = [self._check_row(row) for row in rows]
        parsed = [Answer.parse(answer) for answer in answers]
        if len(ids) != len(parsed):
            raise SessionError(f"Got {len(ids)} rows but {len(parsed)} answers.")
        if len(set(ids)) != len(ids):
            raise SessionError("A row may have only one answer in a call.")
        now = datetime.now(UTC)
        self._record(
            [
                Answered(row, answer, self.round, who, now)
                for row, answer in zip(ids, parsed, strict=True)
            ]
        )

    def refine(self) -> Session:
        """Train with all answers so far and begin the next round."""
        self.start()
        self._is_trained = False  # until the training is finished and in the log
        n_answers = len(self._history)  # answers that arrive from now on count next time
        self._refine_detector(n_answers, self._audited)
        self._record([Refined(self.round, n_answers, datetime.now(UTC))])
        self._is_trained = True
        return self

    def outcome(self) -> Outcome:
        """Estimate precision and recall at the current threshold, as of the last `refine`."""
        self.start()
        scores = self.detector.decision_scores_
        return estimate_outcome(
            scores,
            self.detector.log_odds(scores),
            self.detector.training_labels_,
            self.detector.threshold_,
            self.detector.calibration_,
        )

    def advice(self) -> Advice:
        """Advise whether to continue, as of the last `refine`."""
        return advise(self.outcome())

    def doubtful_answers(self, limit: int = 10) -> list[tuple[int, Answer, float]]:
        """Return answers that are likely label errors, the most doubtful first.

        Each is a row, its answer and its out-of-fold probability of being an outlier, which
        contradicts the answer. Answers changed since the last `refine` are left out. A detector
        without out-of-fold scores has none.
        """
        self.start()
        proba, labels = self.detector.out_of_fold_proba_, self.detector.training_labels_
        error = np.abs(np.nan_to_num(proba - labels))
        doubtful = np.flatnonzero((error > 0.5) & (labels == self.labels))
        order = doubtful[np.argsort(-error[doubtful], kind="stable")][:limit]
        answers = self.answers
        return [(int(row), answers[int(row)], float(proba[row])) for row in order]

    def _labels_after(self, n_answers: int) -> Labels:
        """Return the labels by the first answers of the log."""
        labels = unlabelled(self._n_rows)
        for entry in self._history[:n_answers]:
            labels[entry.row] = entry.answer.label
        return labels

    def _refine_detector(self, n_answers: int, audited: Collection[int]) -> None:
        is_audit = np.zeros(self._n_rows, dtype=bool)
        is_audit[list(audited)] = True
        self.detector.refine(self.X, self._labels_after(n_answers), is_audit=is_audit)

    def _record(self, entries: Sequence[Entry]) -> None:
        self._log.append(entries)
        for entry in entries:
            self._apply(entry)

    def _apply(self, entry: Entry) -> None:
        """Update the state by an entry of the log."""
        if isinstance(entry, Asked):
            self._open[entry.row] = entry
            self._asked_in[entry.row] = entry.round
            self._n_asked += 1
            (self._audited.add if entry.strategy == AUDIT else self._audited.discard)(entry.row)
        elif isinstance(entry, Answered):
            self._history.append(entry)
            self._answers[entry.row] = entry
            self._open.pop(entry.row, None)
        elif isinstance(entry, Refined):
            self._trainings.append((entry.n_answers, frozenset(self._audited)))
            self._update_strategy(entry)
            self.round = entry.round + 1
        else:
            self.detector.set_params(random_state=entry.detector_seed)
            self._seed = entry.strategy_seed

    def _update_strategy(self, entry: Refined) -> None:
        """Pass the labels of a finished round to a strategy with state."""
        if not isinstance(self._strategy, AdaptiveStrategy):
            return
        labels = self._labels_after(entry.n_answers)
        selected = [
            row
            for row, number in self._asked_in.items()
            if number == entry.round and row not in self._audited
        ]
        of_round = labels[selected]
        self._strategy.update(of_round[of_round != UNLABELLED], labels[labels != UNLABELLED])

    def _replay(self, n_rows: int, n_features: int, table_fingerprint: str) -> None:
        """Restore the state from the log; the model is trained when it is needed."""
        first = next(iter(self._log))
        if not isinstance(first, Started):
            raise SessionError("The log does not begin with the start of a session.")
        if (first.n_rows, first.n_features) != (n_rows, n_features):
            raise SessionError(
                f"The log belongs to a table of {first.n_rows} rows and {first.n_features} "
                f"columns, this one has {n_rows} and {n_features}."
            )
        if first.fingerprint != table_fingerprint:
            raise SessionError(
                "The log belongs to a table with other values, column names or order of rows. "
                "Use the table that the session was started with, or a new log."
            )
        for entry in self._log:
            self._apply(entry)

    def _candidates(self) -> NDArray[np.int64]:
        """Return rows without an answer, and rows skipped in an earlier round."""
        is_free = np.ones(self._n_rows, dtype=bool)
        for row, entry in self._answers.items():
            is_free[row] = entry.answer is Answer.SKIP and entry.round < self.round
        return np.flatnonzero(is_free)

    def _check_row(self, row: int) -> int:
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise SessionError(f"A row id must be a whole number, got {row!r}.")
        if not 0 <= row < self._n_rows:
            raise SessionError(f"Row ids go from 0 to {self._n_rows - 1}, got {row}.")
        return int(row)


def _read(X: Any) -> Any:
    """Read the table if X is a path."""
    if isinstance(X, str | Path):
        from imboost.tables.frames import to_arrow  # needs pyarrow, which matrices do not

        return to_arrow(X)
    return X


def _shape_of(X: Any) -> tuple[int, int]:
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise SessionError(f"X must be a table with rows and columns, got shape {shape}.")
    return int(shape[0]), int(shape[1])


def _draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed that can be logged and used again."""
    return int(check_random_state(random_state).randint(2**31 - 1))
