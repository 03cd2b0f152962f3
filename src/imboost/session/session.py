"""The session: an ask-and-tell interface to a detector, its rows and a query strategy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from sklearn.base import clone

from imboost.arrays import Floats, Indices
from imboost.decide import Outcome
from imboost.detectors.adapter import as_detector
from imboost.detectors.detector import Detector
from imboost.errors import SessionError
from imboost.labels import Labels, unlabelled
from imboost.present.wording import advice_text
from imboost.query import QueryStrategy
from imboost.session.agreement import Agreement
from imboost.session.answers import Answer
from imboost.session.consensus import last_answers
from imboost.session.journal import Journal
from imboost.session.log import Answered, Asked, MemoryLog, Refined, SessionLog, Started, Withdrawn
from imboost.session.pool_log import PoolLog, RowIds
from imboost.session.selection import RowSelection, draw_seed, questions_per_round
from imboost.session.state import SessionState, TrainingSet
from imboost.session.table import check_table, fingerprint, read_table, shape_of
from imboost.validation import check_number

if TYPE_CHECKING:
    from imboost.session.notebook import ShownRows

RowEntry = TypeVar("RowEntry", Asked, Answered)


class Session:
    """Active learning on the rows of one table.

    The detector is cloned and trained at the first `ask`. A session that gets a log with entries
    continues exactly where that log ends: the seeds are in the log, and the model is trained
    again. `Session.open` keeps the log in a file or a database.

    Several threads may use a session. `refine` trains a copy of the model and replaces
    `session.detector` at the end, so that others can read scores and tell answers meanwhile.

    Parameters
    ----------
    detector : Detector
        Not changed; the session trains a copy, `session.detector`. One of PyOD or scikit-learn is
        adapted; it cannot `refine`, see `imboost.detectors.AdaptedDetector`.
    X : array-like of shape (n_rows, n_features)
        The table; for a `TableDetector` a data frame, an Arrow table or a path. A row's id is
        its position. If the path leads to more than 500,000 rows, the session asks about a
        candidate pool (`imboost.scoring.candidate_pool`): a row's id is then its number in the
        complete table, and the threshold and `outcome` are about that table.
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
        self.audit_share = audit_share
        detector = as_detector(detector)
        self._selection = RowSelection(query or detector.default_query, audit_share)
        self.pool, self.X = read_table(X, detector, random_state)
        self.detector: Detector = clone(detector)
        shape = shape_of(self.X)
        found = fingerprint(self.X)

        def start() -> Started:
            given = detector.random_state
            detector_seed = given if isinstance(given, int) else draw_seed(given)
            return Started(
                *shape, found, detector_seed, draw_seed(random_state), datetime.now(UTC)
            )

        self._log: SessionLog = MemoryLog() if log is None else log
        self._ids = None if self.pool is None else RowIds(self.pool.rows)
        stored = self._log
        if self.pool is not None and self._ids is not None:
            stored = PoolLog(self._log, self._ids, self.pool.n_rows)
        self._journal = Journal(stored, start)
        started = self._journal.started
        check_table(started, shape, found)
        self._unfitted = self.detector.set_params(random_state=started.detector_seed)
        self._selection.seed = started.strategy_seed
        self._update_selection()
        self._n_trained: int | None = None  # trainings of the model; None before its fit
        self._training_lock = RLock()
        self._selection_lock = RLock()

    @classmethod
    def open(
        cls,
        url: str | Path,
        X: Any = None,
        detector: Detector | None = None,
        *,
        name: str = "default",
        path: str | Path | None = None,
        query: str | QueryStrategy | None = None,
        audit_share: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> Self:
        """Open a session that is kept in a file or a database; start it if it does not exist.

        A session that exists continues exactly where it was, also if its process was killed. Its
        settings are in the store: give only what cannot be stored (a table that is not a file, a
        detector or strategy that is not one of the package).

        Parameters
        ----------
        url : str or path
            A path or `sqlite:///PATH` for an SQLite file, `postgresql://...` for a database.
        X : table, array or path, optional
            Needed to start a session. Read again from its path if it was one. The candidate pool
            of a large table is kept in a file beside the session.
        detector : Detector, optional
            `TableDetector()` for a table and `Stack()` for an array by default.
        name : str
            A store can hold several sessions.
        path : str or path, optional
            Where the table can be read again, if `X` is a table that has been read already.
        query, audit_share, random_state
            As in `Session`.

        Raises
        ------
        SessionError
            If the table or a setting is not that of the stored session.
        StoreError
            If the store cannot be opened.
        """
        from imboost.session.opening import open_session  # needs SQLAlchemy

        return open_session(
            cls,
            url,
            X,
            detector,
            name=name,
            path=path,
            query=query,
            audit_share=audit_share,
            random_state=random_state,
        )

    def close(self) -> None:
        """Release the files or connections of the log."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _state(self) -> SessionState:
        return self._journal.state

    @property
    def _n_rows(self) -> int:
        return len(self._state.labels)

    @property
    def log(self) -> SessionLog:
        """The log of questions and answers."""
        return self._log

    @property
    def n_rows(self) -> int:
        """Number of rows of the complete table."""
        return self._n_rows if self.pool is None else self.pool.n_rows

    @property
    def row_numbers(self) -> Indices:
        """The number of each row of `X` in the complete table: its id."""
        return np.arange(self._n_rows) if self.pool is None else self.pool.rows

    @property
    def weights(self) -> Floats | None:
        """How many rows of the complete table each row of a pool stands for; None without pool."""
        if self.pool is None:
            return None
        return self.detector.decision_.weights

    def use_positions(self) -> Self:
        """Let row ids be positions in `X`, for programs that index arrays by them."""
        self._ids = None
        return self

    @property
    def round(self) -> int:
        """Number of trainings with answers so far: the version of the model."""
        return self._state.round

    @property
    def labels(self) -> Labels:
        """Label of every row of `X`: 0, 1, or -1 if no answer decides it or people disagree."""
        with self._journal.lock:
            return self._state.labels.copy()

    @property
    def answers(self) -> dict[int, Answer]:
        """The answer that counts, of each answered row without a conflict."""
        with self._journal.lock:
            return {self._id(row): one.answer for row, one in self._state.answers.items()}

    @property
    def history(self) -> list[Answered]:
        """All answers, also corrected ones, oldest first; those withdrawn are left out."""
        with self._journal.lock:
            given = [entry for entries in self._state.given.values() for entry in entries]
        return [self._with_id(entry) for entry in sorted(given, key=lambda entry: entry.when)]

    @property
    def conflicts(self) -> dict[int, dict[str, Answer]]:
        """Each person's answer about the rows on which people disagree; see `tell`."""
        with self._journal.lock:
            rows = {row: last_answers(self._state.given[row]) for row in self._state.conflicts}
        return {
            self._id(row): {who: entry.answer for who, entry in answers.items()}
            for row, answers in rows.items()
        }

    @property
    def counts(self) -> Counter[Answer]:
        """Number of rows with each answer."""
        return Counter(self.answers.values())

    def question(self, row: int) -> Asked | None:
        """Return the last question about a row."""
        with self._journal.lock:
            asked = self._state.asked.get(self._position(row))
        return None if asked is None else self._with_id(asked)

    def answers_about(self, row: int) -> dict[str, Answered]:
        """Return the last answer of each person about a row."""
        with self._journal.lock:
            last = last_answers(self._state.given.get(self._position(row), []))
        return {who: self._with_id(entry) for who, entry in last.items()}

    def has_request(self, request: str) -> bool:
        """Whether a call with this id is in the log."""
        with self._journal.lock:
            return request in self._state.requests

    @property
    def open_questions(self) -> list[int]:
        """Rows that were asked and have no answer yet."""
        with self._journal.lock:
            return [self._id(row) for row in self._state.open]

    @property
    def n_left(self) -> int:
        """Number of rows that can still be asked about in this round, besides open questions."""
        with self._journal.lock:
            return len(self._state.candidates())

    def start(self) -> Self:
        """Train the model up to the end of the log: without answers, then with them.

        Does nothing if the model is up to date; it is not if the session is new or reopened.
        """
        if self._is_up_to_date():
            return self
        with self._training_lock:
            if self._is_up_to_date():
                return self
            with self._journal.lock:
                trainings = list(self._state.trainings)
            labels = unlabelled(self._n_rows)
            weights = None if self.pool is None else self.pool.weights(labels)
            detector = self._unfitted.copy().fit(self.X, weights=weights)
            if self._selection.needs_embedding:
                self._selection.set_embedding(detector.embed(self.X))
            for entry in trainings if detector.refine_depends_on_history else trainings[-1:]:
                self._train(detector, self._journal.training_sets[entry.n_entries])
            with self._journal.lock:
                self.detector, self._n_trained = detector, len(trainings)
        return self

    def _is_up_to_date(self) -> bool:
        with self._journal.lock:
            return self._n_trained == len(self._state.trainings)

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
        return self.start().open_questions or self.top_up(n)

    def top_up(self, n: int | None = None) -> list[int]:
        """Ask about more rows until `n` questions are open; return all open questions.

        Parameters
        ----------
        n : int, optional
            Number of rows; by default 1% of the table, 6 for a small one.

        Raises
        ------
        SessionError
            If no question is open and no row is left to ask about.
        """
        n = questions_per_round(self._n_rows) if n is None else n
        check_number("n", n, minimum=1, whole=True)
        self._catch_up()
        self.start()
        with self._selection_lock:
            self._ask(n)
            if not self.open_questions and self.n_left:  # all were answered meanwhile
                self._ask(n)
        with self._journal.lock:
            if not self._state.open:
                raise SessionError("No row is left to ask about: each has an answer.")
            return self.open_questions

    def _ask(self, n: int) -> None:
        """Select rows without holding the lock of the journal, so that answers need not wait."""
        with self._journal.lock:
            n_more = n - len(self._state.open)
            candidates, detector = self._state.candidates(), self.detector
            progress = {"n_rounds": self.round, "n_asked": self._state.n_asked}
        if n_more <= 0:
            return
        selected = self._selection.select(candidates, detector, n_more, **progress)
        facts = self._scores_and_ranks([row for row, _ in selected])
        with self._journal.lock:
            free = set(self._state.candidates().tolist())  # others may have answered meanwhile
            now = self._journal.now()
            self._journal.record(
                [
                    Asked(row, self.round, strategy, *facts[row], now)
                    for row, strategy in selected
                    if row in free
                ]
            )

    def tell(
        self,
        rows: Sequence[int],
        answers: Sequence[Answer | str | int],
        *,
        who: str = "",
        seconds: float | None = None,
        note: str = "",
        request: str = "",
        resolves: bool = False,
    ) -> None:
        """Record answers: all of them, or none if this raises.

        Rows need not have been asked. Each person's last answer about a row counts. If people
        disagree about a row, it has no label until an answer with `resolves`; unsure and skip
        disagree with nothing. `tell` may be called from another thread during `refine`, whose
        training then does not use the answers.

        Parameters
        ----------
        rows : sequence of int
            Ids of the rows.
        answers : sequence
            For each row: inlier, outlier, unsure or skip; 0 and 1 are accepted too.
        who : str
            The person who answered.
        seconds : float, optional
            The time that the person took.
        note : str
            A remark.
        request : str
            An id of this call. A call with an id that is in the log changes nothing.
        resolves : bool
            Whether these answers override all answers about their rows so far. Later answers
            count on top of them.
        """
        if isinstance(answers, str) or not isinstance(rows, Sequence | np.ndarray):
            raise SessionError("tell takes a list of rows and a list of answers.")
        ids = [self._check_row(row) for row in rows]
        parsed = [Answer.parse(answer) for answer in answers]
        if len(ids) != len(parsed):
            raise SessionError(f"Got {len(ids)} rows but {len(parsed)} answers.")
        if len(set(ids)) != len(ids):
            raise SessionError("A row may have only one answer in a call.")
        if seconds is not None:
            check_number("seconds", seconds, minimum=0.0)
        _check_texts(who=who, note=note, request=request)
        with self._journal.lock:
            self._catch_up()
            if request and request in self._state.requests:
                return
            now = self._journal.now()
            given = zip(ids, parsed, self._facts(ids), strict=True)
            self._journal.record(
                [
                    Answered(
                        row,
                        answer,
                        self.round,
                        who,
                        now,
                        **facts,
                        seconds=None if seconds is None else float(seconds),
                        note=note,
                        request=request,
                        resolves=bool(resolves),
                    )
                    for row, answer, facts in given
                ]
            )

    def undo(self, who: str = "", *, request: str = "") -> list[int]:
        """Withdraw the answers of a person's last `tell`; return their rows.

        A row has the person's previous answer again; without any answer, one that was asked
        about is the first open question again. Called again, it withdraws the call before.

        Parameters
        ----------
        who : str
            The person.
        request : str
            An id of this call. A call with an id that is in the log changes nothing.

        Raises
        ------
        SessionError
            If there is no answer to withdraw.
        """
        _check_texts(who=who, request=request)
        with self._journal.lock:
            self._catch_up()
            if request and request in self._state.requests:
                return []
            last = self._state.last_call(who)
            if not last:
                raise SessionError(f"There is no answer{f' of {who}' if who else ''} to undo.")
            now = self._journal.now()
            self._journal.record(
                [Withdrawn(entry.row, self.round, who, now, request) for entry in last]
            )
        return [self._id(entry.row) for entry in last]

    def refine(self) -> Self:
        """Train with all answers so far and begin the next round.

        The model is replaced when the training is finished; if it fails, nothing changes.
        """
        with self._training_lock:
            self._catch_up()
            detector = self.start().detector.copy()
            with self._journal.lock:
                n_entries = self._state.n_entries  # later answers count next time
                training_set = self._journal.training_set()
            self._train(detector, training_set)
            with self._selection_lock, self._journal.lock:  # no selection by the old model
                self._catch_up()
                self._journal.record([Refined(self.round, n_entries, self._journal.now())])
                self._update_selection()
                self.detector, self._n_trained = detector, len(self._state.trainings)
        return self

    def agreement(self) -> Agreement:
        """Measure how well people agree on the rows that two of them answered."""
        with self._journal.lock:
            given = [list(entries) for entries in self._state.given.values()]
        return Agreement.of(given)

    def outcome(self) -> Outcome:
        """Estimate precision and recall at the current threshold, as of the last `refine`."""
        return self.start().detector.decision_.outcome()

    def advice(self) -> str:
        """Advise whether to continue, as of the last `refine`; see also `Outcome.should_stop`."""
        return advice_text(self.outcome())

    def doubtful_answers(self, limit: int = 10) -> list[tuple[int, Answer, float]]:
        """Return answers that are likely label errors, the most doubtful first.

        Each is a row, its answer and its out-of-fold probability of being an outlier, which
        contradicts the answer. Answers changed since the last `refine` are left out. A detector
        without out-of-fold scores has none.
        """
        detector = self.start().detector
        with self._journal.lock:
            current, answers = self.labels, self.answers
        proba, labels = detector.decision_.out_of_fold_proba, detector.decision_.labels
        error = np.abs(np.nan_to_num(proba - labels))
        doubtful = np.flatnonzero((error > 0.5) & (labels == current))
        order = doubtful[np.argsort(-error[doubtful], kind="stable")][:limit]
        found = ((self._id(int(row)), float(proba[row])) for row in order)
        return [(row, answers[row], probability) for row, probability in found]

    def show(self, rows: int | Sequence[int] | None = None) -> ShownRows:
        """Return the open questions, or given rows, as a table that a notebook shows.

        Each row has its score, and the columns that make it unusual if the detector can tell.
        """
        from imboost.session.notebook import show

        return show(self, rows)

    def _repr_html_(self) -> str:
        from imboost.session.notebook import session_html

        return session_html(self)

    def _train(self, detector: Detector, training_set: TrainingSet) -> None:
        labels = training_set.label_array(self._n_rows)
        is_audit = training_set.audit_mask(self._n_rows)
        weights = None if self.pool is None else self.pool.weights(labels)
        detector.refine(self.X, labels, is_audit=is_audit, weights=weights)

    def _facts(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Return what is stored about rows with an answer: score, rank and strategy."""
        ranked = {} if self._n_trained is None else self._scores_and_ranks(rows)
        facts = []
        for row in rows:
            score, rank = ranked.get(row, (None, None))
            asked = self._state.asked.get(row)
            strategy = asked.strategy if asked else ""
            facts.append({"score": score, "rank": rank, "strategy": strategy})
        return facts

    def score_and_rank(self, row: int) -> tuple[float, int]:
        """Return the score of a row by the present model, and its rank; 1 is the highest."""
        position = self._check_row(row)
        return self._scores_and_ranks([position])[position]

    def positions(self, rows: Sequence[int]) -> list[int]:
        """Return the positions of rows in `X`; raise if one does not exist."""
        return [self._check_row(row) for row in rows]

    def _scores_and_ranks(self, rows: Sequence[int]) -> dict[int, tuple[float, int]]:
        """Return the score of each row and its rank; the highest score has rank 1."""
        scores = self.detector.decision_scores_
        own = scores[np.asarray(rows, dtype=np.int64)]
        levels, level_of_row = np.unique(own, return_inverse=True)
        n_lower = np.searchsorted(levels, scores)  # levels below each score of the table
        weights = np.ones(len(scores)) if self.weights is None else self.weights
        counts = np.bincount(n_lower, weights, minlength=len(levels) + 1)
        n_above = np.round(weights.sum() - np.cumsum(counts)).astype(np.int64)
        ranks = n_above[level_of_row] + 1
        return dict(zip(rows, zip(own.tolist(), ranks.tolist(), strict=True), strict=True))

    def _id(self, position: int) -> int:
        return position if self._ids is None else self._ids.id(position)

    def _position(self, row: int) -> int:
        return row if self._ids is None else self._ids.position(row)

    def _with_id(self, entry: RowEntry) -> RowEntry:
        return entry if self._ids is None else replace(entry, row=self._ids.id(entry.row))

    def _catch_up(self) -> None:
        """Read entries that were stored although storing them seemed to fail."""
        with self._journal.lock:
            self._journal.catch_up()
            self._update_selection()

    def _update_selection(self) -> None:
        """Pass the labels of finished rounds to the strategy."""
        for entry in self._state.trainings[self._selection.n_updates :]:
            self._selection.update(self._journal.training_sets[entry.n_entries], self._n_rows)

    def _check_row(self, row: int) -> int:
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise SessionError(f"A row id must be a whole number, got {row!r}.")
        if self._ids is not None:
            return self._ids.position(int(row))
        if not 0 <= row < self._n_rows:
            raise SessionError(f"Row ids go from 0 to {self._n_rows - 1}, got {row}.")
        return int(row)


def _check_texts(**texts: str) -> None:
    """Raise unless the arguments are texts that every database can store."""
    for name, text in texts.items():
        if not isinstance(text, str):
            raise SessionError(f"{name} must be a text, got {text!r}.")
        if "\0" in text or text != text.encode(errors="ignore").decode():
            raise SessionError(f"{name} must be text without null characters and surrogates.")
