"""The session: an ask-and-tell interface to a detector, its rows and a query strategy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from itertools import chain
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone

from imboost.arrays import Floats, Indices
from imboost.decide import Outcome
from imboost.detectors.adapter import as_detector
from imboost.detectors.detector import Detector
from imboost.errors import SessionError, require
from imboost.labels import Labels
from imboost.present.wording import advice_text
from imboost.query import QueryStrategy
from imboost.session.consensus import last_answers
from imboost.session.log import (
    Answer,
    Answered,
    Asked,
    MemoryLog,
    Refined,
    SessionLog,
    Started,
    Withdrawn,
)
from imboost.session.logged_state import Call, LoggedState, check_texts
from imboost.session.rows import RowIds, check_table, fingerprint, read_table, shape_of
from imboost.session.selection import RowSelection, draw_seed, questions_per_round
from imboost.session.state import Progress, SessionState
from imboost.session.trainer import LocalTrainer, Model, WorkerTrainer
from imboost.validation import check_number

if TYPE_CHECKING:
    from imboost.session.notebook import ShownRows


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
        its number in the table. If the path leads to more than 500,000 rows, the session asks
        about a candidate pool (`imboost.scoring.candidate_pool`): `X` is then this pool, and row
        numbers, the threshold and `outcome` are about the complete table.
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

    Attributes
    ----------
    X : array or table
        The rows that the detector is trained on; arrays such as `labels` and scores have a value
        for each of them.
    rows : RowIds
        `rows.positions(ids)` are positions of rows in these arrays, `rows.ids(positions)` ids.
    pool : TableSample or None
    trainer : LocalTrainer or WorkerTrainer
        Trains the model, in the calling thread unless it is replaced before the first training.

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
        detector = as_detector(detector)
        self._selection = RowSelection(query or detector.default_query, audit_share)
        self.X, self.pool = read_table(X, detector, random_state)
        n_rows, n_features = shape_of(self.X)
        self.rows = RowIds(n_rows, self.pool)
        seed = detector.random_state
        start = Started(
            self.rows.n_table_rows,
            n_features,
            fingerprint(self.X),
            seed if isinstance(seed, int) else draw_seed(seed),
            draw_seed(random_state),
            datetime.now(UTC),
        )
        self.log: SessionLog = MemoryLog() if log is None else log
        self._logged = LoggedState(self.log, start)
        started = self._logged.started
        check_table(started, start)
        self._unfitted: Detector = clone(detector).set_params(random_state=started.detector_seed)
        self.trainer: LocalTrainer | WorkerTrainer = LocalTrainer(
            self._unfitted, self.X, self.rows
        )
        self._model: Model | None = None
        self._selection.seed = started.strategy_seed
        self._update_selection()
        self._training_lock = Lock()
        self._selection_lock = Lock()

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
        detector or strategy that is not one of the package). Another table or other settings than
        the stored ones raise a SessionError.

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
        """
        require("A stored session", "sessions", "sqlalchemy", "alembic")
        from imboost.session.opening import open_stored

        return open_stored(cls, url, X, detector, name, path, query, audit_share, random_state)

    def close(self) -> None:
        """End a training in progress; release the files or connections of the log."""
        self.trainer.close()
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _state(self) -> SessionState:
        return self._logged.state

    @property
    def detector(self) -> Detector:
        """The present model; the detector without a fit before the first training."""
        return self._unfitted if self._model is None else self._model.detector

    @property
    def audit_share(self) -> float:
        """Fraction of the questions that are an audit; a session keeps it."""
        return self._selection.audit_share

    @property
    def n_rows(self) -> int:
        """Number of rows of the complete table."""
        return self.rows.n_table_rows

    @property
    def weights(self) -> Floats | None:
        """How many rows of the complete table each row of a pool stands for; None without pool."""
        return self.rows.weights() if self._model is None else self.detector.decision_.weights

    @property
    def ranks(self) -> Indices:
        """The rank of every row of `X` in the complete table; 1 is the highest score."""
        return self._trained().ranks

    @property
    def round(self) -> int:
        """Number of trainings with answers so far: the version of the model."""
        return self._state.round

    @property
    def labels(self) -> Labels:
        """Label of every row of `X`: 0, 1, or -1 if no answer decides it or people disagree."""
        with self._logged.lock:
            return self.rows.labels(self._state.labels)

    @property
    def answers(self) -> dict[int, Answer]:
        """The answer that counts, of each answered row without a conflict."""
        with self._logged.lock:
            return {row: entry.answer for row, entry in self._state.answers.items()}

    @property
    def history(self) -> list[Answered]:
        """All answers, also corrected ones, oldest first; those withdrawn are left out."""
        with self._logged.lock:
            given = [*chain.from_iterable(self._state.given.values())]
        return sorted(given, key=attrgetter("when"))

    @property
    def conflicts(self) -> dict[int, dict[str, Answer]]:
        """Each person's answer about the rows on which people disagree; see `tell`."""
        with self._logged.lock:
            return {
                row: {who: entry.answer for who, entry in self.answers_about(row).items()}
                for row in self._state.conflicts
            }

    @property
    def counts(self) -> Counter[Answer]:
        """Number of rows with each answer."""
        return self.progress().counts

    def progress(self) -> Progress:
        """Return how far the session is: numbers of answers and questions, and agreement."""
        with self._logged.lock:
            return self._state.progress()

    def question(self, row: int) -> Asked | None:
        """Return the last question about a row."""
        return self._state.asked.get(row)

    def history_of(self, row: int) -> list[Answered]:
        """Return all answers about a row, oldest first; those withdrawn are left out."""
        return list(self._state.given.get(row, []))

    def answers_about(self, row: int) -> dict[str, Answered]:
        """Return the last answer of each person about a row."""
        return last_answers(self.history_of(row))

    def rows_of_request(self, request: str) -> set[int]:
        """Return the rows of a call with this id that is in the log."""
        return {row for row, _ in self._state.requests.get(request, {})}

    @property
    def questions(self) -> list[Asked]:
        """The questions that have no answer yet."""
        return list(self._state.open.values())

    @property
    def open_questions(self) -> list[int]:
        """Rows that were asked and have no answer yet."""
        return [question.row for question in self.questions]

    @property
    def n_left(self) -> int:
        """Number of rows that can still be asked about in this round, besides open questions."""
        with self._logged.lock:
            return len(self.rows) - len(self._state.taken())

    def writing(self) -> AbstractContextManager[None]:
        """Keep other threads from writing, for programs that check something before they tell."""
        return self._logged.writing()

    def start(self) -> Self:
        """Train the model up to the end of the log: without answers, then with them.

        Does nothing if the model is up to date; it is not if the session is new or reopened.
        """
        self._trained()
        return self

    def _trained(self) -> Model:
        """Return the model up to the end of the log."""
        if (model := self._model) is None or model.n_trainings != len(self._state.trainings):
            with self._training_lock:
                rounds = self._logged.rounds()
                if (model := self._model) is None or model.n_trainings != len(rounds):
                    self._model = model = Model(self.trainer.train(rounds), len(rounds))
        return model

    def ask(self, n: int | None = None) -> list[int]:
        """Return rows to ask about; the same ones again until each has an answer.

        `n` is the number of rows, by default 1% of the table, 6 for a small one. Raises a
        SessionError if no row is left to ask about.
        """
        return self.start().open_questions or self.top_up(n)

    def top_up(self, n: int | None = None) -> list[int]:
        """Ask about more rows until `n` questions are open, see `ask`; return all of them."""
        n = questions_per_round(len(self.rows)) if n is None else n
        check_number("n", n, minimum=1, whole=True)
        with self.writing():
            pass  # a training may have been stored although that seemed to fail
        self.start()
        with self._selection_lock:
            self._ask(n)
            if not self.open_questions and self.n_left:  # all were answered meanwhile
                self._ask(n)
        if not (questions := self.open_questions):
            raise SessionError("No row is left to ask about: each has an answer.")
        return questions

    def _ask(self, n: int) -> None:
        """Select rows without keeping others from writing, so that answers need not wait."""
        self._update_selection()
        is_free = np.ones(len(self.rows), dtype=bool)
        with self._logged.lock:
            n_more, model = n - len(self._state.open), self._model
            is_free[self.rows.positions(self._state.taken())] = False
            progress = {"n_rounds": self.round, "n_asked": self._state.n_asked}
        if model is None or n_more <= 0:
            return
        selected = self._selection.select(
            np.flatnonzero(is_free), model.detector, self.X, n_more, **progress
        )
        rows = self.rows.ids([at for at, _ in selected])
        with self.writing():
            taken, now = self._state.taken(), self._logged.now()
            self._logged.record(
                [
                    Asked(row, self.round, strategy, *model.score_and_rank(at), now)
                    for row, (at, strategy) in zip(rows, selected, strict=True)
                    if row not in taken  # others may have answered meanwhile
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
            An id of this call. The same call with an id that is in the log changes nothing; one
            about other rows or with other answers is refused.
        resolves : bool
            Whether these answers override all answers about their rows so far. Later answers
            count on top of them.
        """
        self.tell_all([Call(rows, answers, who, seconds, note, request, resolves)])

    def tell_all(self, calls: Sequence[Call]) -> None:
        """Record the answers of several calls, each as `tell` does: all of them or none."""
        parsed = [(call, call.parse(self.rows)) for call in calls]
        with self.writing():
            now, model, entries = self._logged.now(), self._model, list[Answered]()
            for call, answers in parsed:
                given = {(row, call.who): answer for row, (_, answer) in answers.items()}
                if self._is_repeated(call.request, given):
                    continue
                seconds = None if call.seconds is None else float(call.seconds)
                rest = (seconds, call.note, call.request, bool(call.resolves))
                for row, (at, answer) in answers.items():
                    score, rank = model.score_and_rank(at) if model else (None, None)
                    strategy = asked.strategy if (asked := self.question(row)) else ""
                    about = (row, answer, self.round, call.who, now, score, rank, strategy)
                    entries.append(Answered(*about, *rest))
                now += timedelta(microseconds=1)
            self._logged.record(entries)

    def undo(self, who: str = "", *, request: str = "") -> list[int]:
        """Withdraw the answers of a person's last `tell`; return their rows.

        A row has the person's previous answer again; without any answer, one that was asked
        about is the first open question again. Called again, it withdraws the call before. A call
        with a `request` id that is in the log changes nothing. Raises a SessionError if there is
        no answer to withdraw.
        """
        check_texts(who=who, request=request)
        with self.writing():
            withdrawn = dict.fromkeys((row, who) for row in self.rows_of_request(request))
            if self._is_repeated(request, withdrawn):
                return []
            last = self._state.last_call(who)
            if not last:
                raise SessionError(f"There is no answer{f' of {who}' if who else ''} to undo.")
            now = self._logged.now()
            self._logged.record(
                [Withdrawn(entry.row, self.round, who, now, request) for entry in last]
            )
        return [entry.row for entry in last]

    def _is_repeated(self, request: str, given: Mapping[tuple[int, str], Answer | None]) -> bool:
        """Whether a call with this id is in the log; raise if it was about something else."""
        stored = self._state.requests.get(request) if request else None
        if stored is not None and stored != given:
            raise SessionError(
                f"The request id '{request}' belongs to another call: its rows, answers or person "
                "were different. Nothing was stored."
            )
        return stored is not None

    def refine(self) -> Self:
        """Train with all answers so far and begin the next round.

        The model is replaced when the training is finished; if it fails, nothing changes.
        """
        with self._training_lock:
            with self.writing(), self._logged.lock:
                # Answers that come later wait for the next round.
                rounds = [*self._logged.rounds(), self._logged.training_set()]
            model = Model(self.trainer.train(rounds), len(rounds))
            with self._selection_lock, self.writing():  # no selection by the old model
                n_entries = rounds[-1].n_entries
                self._logged.record([Refined(self.round, n_entries, self._logged.now())])
                self._update_selection()
                self._model = model
        return self

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
        with self._logged.lock:
            current, answers = self.labels, self.answers
        proba, labels = detector.decision_.out_of_fold_proba, detector.decision_.labels
        error = np.abs(np.nan_to_num(proba - labels))
        doubtful = np.flatnonzero((error > 0.5) & (labels == current))
        order = doubtful[np.argsort(-error[doubtful], kind="stable")][:limit]
        rows = self.rows.ids(order)
        return [(row, answers[row], float(proba[at])) for row, at in zip(rows, order, strict=True)]

    def show(self, rows: int | Sequence[int] | None = None) -> ShownRows:
        """Return the open questions, or given rows, with their reasons, as shown in notebooks."""
        from imboost.session.notebook import show

        return show(self, rows)

    def _repr_html_(self) -> str:
        from imboost.session.notebook import session_html

        return session_html(self)

    def _update_selection(self) -> None:
        """Pass the labels of finished rounds to the strategy."""
        for training_set in self._logged.rounds()[self._selection.n_updates :]:
            self._selection.update(training_set)
