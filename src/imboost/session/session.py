"""Ask and tell: a detector, its rows and a query strategy joined into a dialogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from imboost.decide import Advice, Outcome, advise, estimate_outcome
from imboost.detectors.base import BaseDetector
from imboost.errors import SessionError
from imboost.labels import UNLABELLED, Labels, unlabelled
from imboost.query import AdaptiveStrategy, EmbeddingStrategy, QueryStrategy, make_strategy
from imboost.session.answers import Answer
from imboost.session.log import (
    Answered,
    Asked,
    Entry,
    MemoryLog,
    Refined,
    SessionLog,
    Started,
)
from imboost.validation import check_number

SMALL_TABLE = 500
SMALL_TABLE_QUESTIONS = 6
QUESTION_SHARE = 0.01

AUDIT = "audit"
"""In the place of a strategy's name: the row was drawn at random."""

CONTRADICTION = 0.5
"""A probability further from the label than this contradicts it."""


def questions_per_round(n_rows: int) -> int:
    """Return the paper's budget of a round: 1 % of the rows, 6 for at most 500 rows.

    >>> questions_per_round(2640), questions_per_round(300)
    (26, 6)
    """
    if n_rows <= SMALL_TABLE:
        return min(SMALL_TABLE_QUESTIONS, n_rows)
    return int(QUESTION_SHARE * n_rows)


class Session:
    """A dialogue about the rows of one table.

    The detector is cloned and trained at the first `ask`. A session that gets a log with
    entries goes on where that log ends, exactly: its seeds are in the log, and the model is
    trained again, round by round.

    Parameters
    ----------
    detector : BaseDetector or TableDetector
        Not changed; the session trains a copy, `session.detector`.
    X : array-like of shape (n_rows, n_features)
        The table; for a `TableDetector` a data frame, an Arrow table or a path. A row's id is
        its position.
    query : str or QueryStrategy, optional
        What chooses the rows; the detector's own default if not given. A strategy that
        learns from the answers is copied, and taught them again from the log.
    log : SessionLog, optional
        Where questions and answers are kept; in memory if not given.
    audit_share : float
        Share of the questions that are not the strategy's but an audit: rows drawn at random,
        half of them from those above the threshold. They tell how the rows that no one was
        asked about differ from those that were, and make the intervals of `outcome` narrower.
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
        detector: BaseDetector,
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
        self.detector: BaseDetector = clone(detector)
        query = query or detector.default_query
        # Copied, since a strategy may learn from the answers of this one dialogue.
        self._strategy = make_strategy(query) if isinstance(query, str) else deepcopy(query)
        self._strategy_name = query if isinstance(query, str) else type(query).__name__
        self._log: SessionLog = MemoryLog() if log is None else log
        self._answers: dict[int, Answered] = {}
        self._open: dict[int, Asked] = {}
        self._asked_in: dict[int, int] = {}  # the last round in which a row was asked
        self._audited: set[int] = set()
        self._n_asked = 0
        self._is_trained = False
        self.round = 0
        if not any(True for _ in self._log):
            given = detector.random_state
            seeds = (
                given if isinstance(given, int) else _draw_seed(given),
                _draw_seed(random_state),
            )
            self._log.append([Started(self._n_rows, n_features, *seeds, datetime.now(UTC))])
        self._take_up(n_features)

    @property
    def labels(self) -> Labels:
        """What is known of every row: 0, 1, or -1 where no one has said either."""
        labels = unlabelled(self._n_rows)
        for row, entry in self._answers.items():
            labels[row] = entry.answer.label
        return labels

    @property
    def answers(self) -> dict[int, Answer]:
        """The standing answer about every row that has one."""
        return {row: entry.answer for row, entry in self._answers.items()}

    @property
    def counts(self) -> Counter[Answer]:
        """How many rows stand with each answer."""
        return Counter(self.answers.values())

    @property
    def open_questions(self) -> list[int]:
        """Rows that were asked and have no answer yet."""
        return list(self._open)

    @property
    def n_left(self) -> int:
        """How many rows can still be asked about in this round."""
        return len(self._candidates())

    def start(self) -> Session:
        """Bring the model up to the log: train it without answers, then round by round.

        Does nothing where the model is up to date, as it is unless the session was reopened
        or a training was interrupted.
        """
        if self._is_trained:
            return self
        self.detector.fit(self.X)
        if isinstance(self._strategy, EmbeddingStrategy):
            self._strategy.set_embedding(self.detector.embed(self.X))
        labels = unlabelled(self._n_rows)
        for entry in self._log:
            if isinstance(entry, Answered):
                labels[entry.row] = entry.answer.label
            elif isinstance(entry, Refined):
                self.detector.refine(self.X, labels)
        self._calibrate(self.detector.training_labels_)
        self._is_trained = True
        return self

    def ask(self, n: int | None = None) -> list[int]:
        """Return rows to look at; the same ones again until each has an answer.

        Parameters
        ----------
        n : int, optional
            How many rows; by default 1 % of the table, 6 for a small one.

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
        others, n_others = np.setdiff1d(candidates, audit), n - len(audit)
        chosen = self._strategy.select(scores, others, n_others, rng) if n_others else audit[:0]
        now = datetime.now(UTC)
        self._record(
            [
                Asked(int(row), self.round, name, float(scores[row]), now)
                for name, rows in ((self._strategy_name, chosen), (AUDIT, audit))
                for row in rows
            ]
        )
        return self.open_questions

    def _draw_audit(
        self, candidates: NDArray[np.int64], n: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw a share of `n` rows at random, half of them from those above the threshold."""
        n = min(int(self.audit_share * n + rng.random()), len(candidates))
        above = self.detector.decision_scores_[candidates] > self.detector.threshold_
        upper, lower = rng.permutation(candidates[above]), rng.permutation(candidates[~above])
        n_upper = (n + int(rng.integers(2))) // 2
        n_upper = min(max(n_upper, n - len(lower)), len(upper))
        return np.concatenate([upper[:n_upper], lower[: n - n_upper]])

    def tell(
        self, rows: Sequence[int], answers: Sequence[Answer | str | int], *, who: str = ""
    ) -> None:
        """Take answers; all of them are kept when this returns, or none if it raises.

        Rows need not have been asked, and an answer about an answered row corrects it.

        Parameters
        ----------
        rows : sequence of int
            Ids of the rows.
        answers : sequence
            For each row: inlier, outlier, unsure or skip (0 and 1 are understood too).
        who : str
            The person who answered.
        """
        if isinstance(answers, str) or not isinstance(rows, Sequence | np.ndarray):
            raise SessionError("tell takes a list of rows and a list of answers.")
        ids = [self._check_row(row) for row in rows]
        given = [Answer.parse(answer) for answer in answers]
        if len(ids) != len(given):
            raise SessionError(f"Got {len(ids)} rows but {len(given)} answers.")
        if len(set(ids)) != len(ids):
            raise SessionError("A row may have only one answer in a call.")
        now = datetime.now(UTC)
        self._record(
            [
                Answered(row, answer, self.round, who, now)
                for row, answer in zip(ids, given, strict=True)
            ]
        )

    def refine(self) -> Session:
        """Train with all answers so far and begin the next round."""
        self.start()
        self._is_trained = False  # until the training is through and in the log
        self.detector.refine(self.X, self.labels)
        self._calibrate(self.labels)
        self._record([Refined(self.round, datetime.now(UTC))])
        self._is_trained = True
        return self

    def outcome(self) -> Outcome:
        """Estimate what the decision at the present threshold gets right and what it misses.

        Answers count from the next `refine` on.
        """
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
        """Say whether more answers are worth it, by what was known at the last `refine`."""
        return advise(self.outcome())

    def doubtful_answers(self, most: int = 10) -> list[tuple[int, Answer, float]]:
        """Return answered rows that the model contradicts, the most doubtful first.

        Each is a row, its answer, and how likely it would be an outlier had no one been asked
        about it. Answers that were changed since the last `refine` are not among them, and none
        are where the detector cannot leave an answer out.
        """
        self.start()
        opinion, labels = self.detector.out_of_fold_proba_, self.detector.training_labels_
        gap = np.abs(np.nan_to_num(opinion - labels))
        doubtful = np.flatnonzero((gap > CONTRADICTION) & (labels == self.labels))
        order = doubtful[np.argsort(-gap[doubtful], kind="stable")][:most]
        answers = self.answers
        return [(int(row), answers[int(row)], float(opinion[row])) for row in order]

    def _calibrate(self, labels: Labels) -> None:
        """Tell the detector which answers are an audit."""
        is_audit = np.zeros(self._n_rows, dtype=bool)
        is_audit[sorted(self._audited)] = True
        self.detector.calibrate(labels, is_audit)

    def _record(self, entries: Sequence[Entry]) -> None:
        self._log.append(entries)
        for entry in entries:
            self._apply(entry)

    def _apply(self, entry: Entry) -> None:
        """Bring the state of the dialogue up to an entry of the log."""
        if isinstance(entry, Asked):
            self._open[entry.row] = entry
            self._asked_in[entry.row] = entry.round
            self._n_asked += 1
            (self._audited.add if entry.strategy == AUDIT else self._audited.discard)(entry.row)
        elif isinstance(entry, Answered):
            self._answers[entry.row] = entry
            self._open.pop(entry.row, None)
        elif isinstance(entry, Refined):
            if isinstance(self._strategy, AdaptiveStrategy):
                standing = self.labels[self.labels != UNLABELLED]
                self._strategy.update(self._labels_of_round(entry.round), standing)
            self.round = entry.round + 1
        else:
            self.detector.set_params(random_state=entry.detector_seed)
            self._seed = entry.strategy_seed

    def _take_up(self, n_features: int) -> None:
        """Bring the dialogue up to the log; the model follows when it is needed."""
        first = next(iter(self._log))
        if not isinstance(first, Started):
            raise SessionError("The log does not begin with the start of a session.")
        if (first.n_rows, first.n_features) != (self._n_rows, n_features):
            raise SessionError(
                f"The log is about a table of {first.n_rows} rows and {first.n_features} "
                f"columns, this one has {self._n_rows} and {n_features}."
            )
        for entry in self._log:
            self._apply(entry)

    def _candidates(self) -> NDArray[np.int64]:
        """Rows without an answer, and rows put off in an earlier round."""
        free = np.ones(self._n_rows, dtype=bool)
        for row, entry in self._answers.items():
            free[row] = entry.answer is Answer.SKIP and entry.round < self.round
        return np.flatnonzero(free)

    def _labels_of_round(self, number: int) -> Labels:
        """Return the labels of the rows asked in a round, as they stand."""
        labels = [
            entry.answer.label
            for row, entry in self._answers.items()
            if self._asked_in.get(row) == number and row not in self._audited
        ]
        return np.array([label for label in labels if label != UNLABELLED], dtype=np.int8)

    def _check_row(self, row: int) -> int:
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise SessionError(f"A row id is a whole number, got {row!r}.")
        if not 0 <= row < self._n_rows:
            raise SessionError(f"Row ids go from 0 to {self._n_rows - 1}, got {row}.")
        return int(row)


def _read(X: Any) -> Any:
    """Read a table once, where only its path is given."""
    if isinstance(X, str | Path):
        from imboost.tables.frames import to_arrow  # needs pyarrow, which matrices do not

        return to_arrow(X)
    return X


def _shape_of(X: Any) -> tuple[int, int]:
    """Return rows and columns of anything that a detector could take for a table."""
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise SessionError(f"X must be a table with rows and columns, got shape {shape}.")
    return int(shape[0]), int(shape[1])


def _draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed that can be written down and used again."""
    return int(check_random_state(random_state).randint(2**31 - 1))
