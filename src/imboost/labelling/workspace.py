"""A session that is being labelled: training in the background while people answer."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.table_detector import TableDetector
from imboost.errors import IMBoostError, SessionError
from imboost.labelling.columns import Columns
from imboost.labelling.leases import Leases
from imboost.labelling.snapshot import Explainer, Snapshot
from imboost.labelling.views import TrainingView
from imboost.present.formatting import count
from imboost.session import Answer, Session
from imboost.tables.roles import Role

EXPLAINED_AT_ONCE = 5  # questions: the first ones are ready before the last ones
SAMPLE_ROWS = 2000  # rows of the training that estimates how long the first training takes
TRAINING_NICENESS = 10  # of the training thread; 0 is normal, 19 the lowest priority
MAX_FRACTION = 0.95  # progress bars stop here until the training is finished

Value = TypeVar("Value")


class Workspace:
    """A session, its trainer and the questions that are open.

    A thread trains the model and selects questions; all other methods return at once and may be
    called from any thread. The thread trains once `n_questions` decided answers are new. Before
    that, it selects a few more questions with the present model, so that people can go on. It
    also trains when no row is left to ask about, so that the last answers count.

    Parameters
    ----------
    session : Session
        Its detector is a `TableDetector`.
    n_questions : int
        Questions per round.
    second_opinions : float
        Fraction of the answered rows that are shown to a second person.
    lease_seconds : float
        Time after which an unanswered question is shown to somebody else.
    """

    def __init__(
        self,
        session: Session,
        *,
        n_questions: int = 10,
        second_opinions: float = 0.0,
        lease_seconds: float = 600.0,
    ) -> None:
        self.session = session
        self.n_questions = n_questions
        self.error = ""
        self.leases = Leases(lease_seconds)
        self._second_opinions = second_opinions
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._is_stopped = False
        self._is_waiting = False  # the thread has nothing to do
        self._training: tuple[str, float, float | None] | None = None  # text, start, seconds
        self._last_seconds: float | None = None
        self._model: tuple[Snapshot, Explainer] | None = None
        self._columns: Columns | None = None
        self._points: NDArray[np.float32] | None = None
        self._thread = threading.Thread(target=self._run, name="training", daemon=True)

    def start(self) -> None:
        """Begin to train in the background."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the training in progress."""
        self._is_stopped = True
        self._wake.set()

    def wait_until_stopped(self, timeout: float | None = None) -> bool:
        """Wait for the end of the thread; return whether it has ended."""
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def is_ready(self) -> bool:
        """Whether a model has been trained and questions can be shown."""
        return self._model is not None

    @property
    def snapshot(self) -> Snapshot:
        """The present model."""
        return self._require(self._model)[0]

    @property
    def explainer(self) -> Explainer:
        """Explanations by the present model."""
        return self._require(self._model)[1]

    @property
    def columns(self) -> Columns:
        """The columns of the table."""
        return self._require(self._columns)

    @property
    def points(self) -> NDArray[np.float32]:
        """The rows as points, for the search of similar rows."""
        return self._require(self._points)

    @property
    def training(self) -> TrainingView | None:
        """The training in progress."""
        if (running := self._training) is None:
            return None
        text, start, seconds = running
        spent = time.monotonic() - start
        if seconds is None:
            return TrainingView(text, 0.0, None)
        return TrainingView(text, min(spent / seconds, MAX_FRACTION), max(seconds - spent, 0.0))

    @property
    def n_new_answers(self) -> int:
        """Labels that changed since the last training."""
        if self._model is None:
            return 0
        return int((self.session.labels != self.snapshot.detector.decision_.labels).sum())

    def take_question(self, who: str) -> int | None:
        """Return the question to show to a person, or None if there is none.

        Questions of the newest model come first, among them those with the highest scores.
        """
        with self._lock:
            questions = self._ordered_questions()
            row = self.leases.take(questions, who)
            if row is None:
                row = self.leases.take(self._second_opinion_rows(who), who)
            if self._is_running_short():
                self._wake.set()
            return row

    def pass_over(self, row: int, who: str) -> None:
        """Show the next question instead of this one."""
        with self._lock:
            self.leases.pass_over(row, who)

    def answer(
        self,
        rows: Sequence[int],
        answer: Answer | str,
        *,
        who: str,
        note: str = "",
        request: str = "",
        resolves: bool = False,
    ) -> None:
        """Store an answer about rows; the first of them is the question that was shown.

        The others are its group. Those that have been answered since it was shown are left out,
        unless `resolves` is set.

        Raises
        ------
        SessionError
            If another person has answered the question in the meantime, or is about to.
        """
        with self._lock:
            first = rows[0]
            if not resolves and not self.session.has_request(request):
                self._check_free(first, who)
                rows = [first, *(row for row in rows[1:] if not self.session.answers_about(row))]
            seconds = self.leases.seconds_held(first, who)
            self.session.tell(
                rows,
                [answer] * len(rows),
                who=who,
                seconds=seconds,
                note=note,
                request=request,
                resolves=resolves,
            )
            for row in rows:
                self.leases.release(row)
        self._wake.set()

    def undo(self, who: str) -> list[int]:
        """Withdraw the last answer of a person, or that about a group, and show it again."""
        with self._lock:
            rows = self.session.undo(who=who)
            if rows[0] in self.session.open_questions:
                self.leases.lease(rows[0], who)
            return rows

    def wait_until_idle(self, timeout: float = 60.0) -> None:
        """Wait until no training is due or running; for tests and scripts."""
        end = time.monotonic() + timeout
        while self._is_busy() and time.monotonic() < end:
            time.sleep(0.02)

    def _ordered_questions(self) -> list[int]:
        """Return the open questions, the one to show next first."""
        return sorted(self.session.open_questions, key=self._priority, reverse=True)

    def _priority(self, row: int) -> tuple[int, float]:
        question = self.session.question(row)
        return (question.round, question.score) if question else (0, 0.0)

    def _is_running_short(self) -> bool:
        """Whether people would soon have to wait for questions that nobody has."""
        with self._lock:
            return self.leases.n_free(self.session.open_questions) < self.n_questions // 2

    def _is_busy(self) -> bool:
        is_waiting = self._is_waiting and not self._wake.is_set()
        return self._thread.is_alive() and (not is_waiting or self._is_training_due())

    def _is_training_due(self) -> bool:
        n_new, session = self.n_new_answers, self.session
        is_end = not session.open_questions and not session.n_left
        return n_new >= self.n_questions or (n_new > 0 and is_end)

    def _check_free(self, row: int, who: str) -> None:
        others = [name for name in self.session.answers_about(row) if name != who]
        is_asked = row in self.session.open_questions or row in self._second_opinion_rows(who)
        if others and not is_asked:
            name = others[0] or "somebody else"
            raise SessionError(f"{name} has answered this question already.")
        if self.leases.is_held_by_other(row, who):
            raise SessionError("This question is being answered by somebody else.")

    def _second_opinion_rows(self, who: str) -> list[int]:
        """Return rows that exactly one other person has decided and that need a second person."""
        if not self._second_opinions:
            return []
        return [
            row
            for row in self.session.answers
            if _hash_fraction(row) < self._second_opinions
            and len(people := self.session.answers_about(row)) == 1
            and who not in people
        ]

    def _run(self) -> None:
        _lower_priority()
        try:
            self._train_first()
            while not self._is_stopped:
                if self._is_training_due():
                    self._fill(self.n_questions)  # something to do while the model is trained
                    self._train(f"training with {count(self._n_labelled(), 'answer')}")
                    self._fill(len(self.session.open_questions) + self.n_questions)
                elif self._is_running_short():
                    self._fill(len(self.session.open_questions) + self.n_questions)
                self._is_waiting = True
                self._wake.wait(timeout=1.0)
                self._is_waiting = False
                self._wake.clear()
        except (IMBoostError, OSError, ValueError, MemoryError) as error:
            self.error = f"Training stopped: {error}"
            self._training = None

    def _train_first(self) -> None:
        table = self.session.X
        self._training = ("reading the columns", time.monotonic(), None)
        seconds = self._estimate_seconds()
        self._training = (
            f"training on {count(table.num_rows, 'row')}",
            time.monotonic(),
            seconds,
        )
        self.session.start()
        detector = cast("TableDetector", self.session.detector)
        identifiers = [c.name for c in detector.schema_ if c.role == Role.IDENTIFIER]
        parsed = detector.schema_.parse(table)
        broken = detector.rules_.broken(parsed) if detector.rules_ else {}
        self._columns = Columns(table, parsed, identifiers, broken, self.session.row_numbers)
        self._points = detector.embed(table).astype(np.float32)
        self._fill(self.n_questions)
        self._training = None

    def _estimate_seconds(self) -> float | None:
        """Estimate the time of the first training by one on a sample of the rows."""
        n_rows = self.session.X.num_rows
        if n_rows <= 2 * SAMPLE_ROWS:
            return None
        start = time.monotonic()
        sample = np.linspace(0, n_rows - 1, SAMPLE_ROWS).astype(np.int64)
        trial = self.session.detector.copy()
        try:
            trial.fit(self.session.X.take(sample))
        except IMBoostError:  # the sample may lack what the table has
            return None
        return float((time.monotonic() - start) * n_rows / SAMPLE_ROWS)

    def _train(self, text: str) -> None:
        start = time.monotonic()
        self._training = (text, start, self._last_seconds)
        try:
            self.session.refine()
            self._publish()
        finally:
            self._training = None
        self._last_seconds = time.monotonic() - start

    def _fill(self, n: int) -> None:
        """Make sure that `n` questions are open, with reasons."""
        if self.session.n_left:
            self.session.top_up(n)
        if self._model is None:
            self._publish()
        rows = [row for row in self._ordered_questions() if self.explainer.get(row) is None]
        for start in range(0, len(rows), EXPLAINED_AT_ONCE):
            self.explainer.explain(rows[start : start + EXPLAINED_AT_ONCE])

    def _publish(self) -> None:
        """Show the session's model from now on, with the reasons of the open questions."""
        snapshot = Snapshot.take(self.session)
        explainer = Explainer(snapshot, self.session)
        explainer.explain(self._ordered_questions()[:EXPLAINED_AT_ONCE])
        self._model = (snapshot, explainer)

    def _n_labelled(self) -> int:
        return int((self.session.labels >= 0).sum())

    @staticmethod
    def _require(value: Value | None) -> Value:
        if value is None:
            raise SessionError("The model is being trained; try again in a moment.")
        return value


def _lower_priority() -> None:
    """Let the threads that answer people run before this one and those that it starts."""
    if sys.platform == "linux":  # where a thread has a priority of its own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), TRAINING_NICENESS)


def _hash_fraction(row: int) -> float:
    """Return a number from 0 to 1 that is the same for a row in every process."""
    return ((row * 2_654_435_761) % 2**32) / 2**32
