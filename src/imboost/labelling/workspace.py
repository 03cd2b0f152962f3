"""A session that is being labelled: training in the background while people answer."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.table_detector import TableDetector
from imboost.errors import IMBoostError, SessionError
from imboost.labelling.columns import Columns
from imboost.labelling.leases import Leases
from imboost.labelling.snapshot import Snapshot
from imboost.present.formatting import count
from imboost.session import Answer, Session
from imboost.session.trainer import LocalTrainer, WorkerTrainer
from imboost.tables.roles import Role

EXPLAINED_AT_ONCE = 5  # questions: the first ones are ready before the last ones
HASH_FACTOR = 2_654_435_761  # Knuth's: a row has the same hash in every process
MAX_NAME_LENGTH, MAX_NOTE_LENGTH = 60, 2000  # characters of a person's name and of a note
MAX_FRACTION = 0.95  # progress bars stop here until the training is finished


@dataclass(frozen=True)
class Training:
    """A training in progress: what is being done, and its estimated time."""

    text: str
    seconds: float | None = None
    start: float = field(default_factory=time.monotonic)

    @property
    def fraction(self) -> float:
        """The part that is done."""
        spent = time.monotonic() - self.start
        return min(spent / self.seconds, MAX_FRACTION) if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """None if the time is not known."""
        if self.seconds is None:
            return None
        return max(self.start + self.seconds - time.monotonic(), 0.0)


class Workspace:
    """A session, the training of its model and the questions that are open.

    A thread has the model trained, in another process, and selects questions; all other methods
    return at once and may be called from any thread. The model is trained once `n_questions`
    decided answers are new. Before that, the thread selects a few more questions with the present
    model, so that people can go on. It also trains when no row is left to ask about, so that the
    last answers count. After an error, it waits for `retry` before it trains again.

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
    in_process : bool
        Whether to train in this process, for tests.

    Attributes
    ----------
    error : str
        Why the last training failed; empty if it did not.
    training : Training or None
        The training in progress.
    columns : Columns
        The columns of the table, once the workspace is ready.
    points : array of shape (n_rows, n_features)
        The rows as points, for the search of similar rows.
    """

    def __init__(
        self,
        session: Session,
        *,
        n_questions: int = 10,
        second_opinions: float = 0.0,
        lease_seconds: float = 600.0,
        in_process: bool = False,
    ) -> None:
        if not in_process and isinstance(session.trainer, LocalTrainer):
            session.trainer = WorkerTrainer(session.trainer)
        self.session = session
        self.n_questions = n_questions
        self.error = ""
        self.leases = Leases(lease_seconds)
        self._second_opinions = second_opinions
        self._wake = threading.Event()
        self._is_stopped = False
        self._is_waiting = False  # the thread has nothing to do
        self.training: Training | None = None
        self._last_seconds: float | None = None
        self._snapshot: Snapshot | None = None
        self.columns: Columns
        self.points: NDArray[np.float32]
        self._thread = threading.Thread(target=self._run, name="training", daemon=True)

    def start(self) -> None:
        """Begin to train in the background."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and a training in progress; a reopened session repeats it."""
        self._is_stopped = True
        self._wake.set()
        self.session.trainer.close()

    def retry(self) -> None:
        """Train again after an error."""
        self.error = ""
        self._wake.set()

    def wait_until_stopped(self) -> None:
        """Wait for the end of the thread."""
        if self._thread.is_alive():
            self._thread.join()

    @property
    def is_ready(self) -> bool:
        """Whether a model has been trained and questions can be shown."""
        return self._snapshot is not None

    @property
    def snapshot(self) -> Snapshot:
        """The present model."""
        if self._snapshot is None:
            raise SessionError("The model is being trained; try again in a moment.")
        return self._snapshot

    @property
    def n_new_answers(self) -> int:
        """Labels that changed since the last training."""
        if not self.is_ready:
            return 0
        return int((self.session.labels != self.snapshot.detector.decision_.labels).sum())

    def row_name(self, row: int) -> str:
        """Return the name of a row."""
        return self.columns.row_names(self.session.rows.positions([row]))[0]

    def doubtful(self) -> list[tuple[int, float]]:
        """Return answers that the model contradicts and nobody has confirmed since.

        Each is a row and its out-of-fold probability of being an outlier.
        """
        answers = self.session.answers
        return [
            (row, probability)
            for row, answer, probability in self.snapshot.doubtful
            if answers.get(row) == answer
            and not any(entry.resolves for entry in self.session.history_of(row)[1:])
        ]

    def take_question(self, who: str) -> int | None:
        """Return the question to show to a person, or None if there is none.

        Questions of the newest model come first, among them those with the highest scores.
        """
        with self.leases.lock:
            row = self.leases.take(self._ordered_questions(), who)
            if row is None:
                row = self.leases.take(self._second_opinion_rows(who), who)
        if self._is_running_short():
            self._wake.set()
        return row

    def answer(
        self,
        rows: Sequence[int],
        answer: Answer | str,
        *,
        who: str,
        note: str = "",
        request: str = "",
        from_list: bool = False,
    ) -> None:
        """Store an answer about rows; the first of them is the question that was shown.

        The others are its group. Those that have been answered since it was shown are left out.
        Other people's answers about the same rows stay: if they differ, the row has no label
        until somebody resolves it. With `from_list` the person chose all rows from a list, where
        they need not be questions; otherwise it is an error if another person has answered the
        question in the meantime, or is about to. See `Session.tell` for `note` and `request`.
        """
        session, first = self.session, rows[0]
        with session.writing():
            if known := session.rows_of_request(request):
                rows = [first, *(row for row in rows[1:] if row in known)]
            elif not from_list:
                self._check_free(first, who)
                rows = [first, *(row for row in rows[1:] if not session.history_of(row))]
            seconds = self.leases.seconds_held(first, who)
            answers = [answer] * len(rows)
            session.tell(rows, answers, who=who, seconds=seconds, note=note, request=request)
        self.leases.release(rows)
        self._wake.set()

    def resolve(self, row: int, answer: Answer | str, *, who: str) -> None:
        """Store an answer of a person who saw the answers of all people about a row.

        It overrides them if people disagree about the row or the model contradicts them;
        otherwise it counts like any other.
        """
        doubtful = [other for other, _ in self.doubtful()]
        with self.session.writing():
            resolves = row in self.session.conflicts or row in doubtful
            self.session.tell([row], [answer], who=who, resolves=resolves)
        self.leases.release([row])
        self._wake.set()

    def undo(self, who: str) -> list[int]:
        """Withdraw the last answer of a person, or that about a group, and show it again."""
        with self.session.writing(), self.leases.lock:
            rows = self.session.undo(who=who)
            if rows[0] in self.session.open_questions:
                self.leases.lease(rows[0], who)
            return rows

    def wait_until_idle(self, timeout: float = 60.0) -> None:
        """Wait until no training is due or running; for tests and scripts."""
        end = time.monotonic() + timeout
        while time.monotonic() < end and self._thread.is_alive():
            if self._is_waiting and not self._wake.is_set() and not self._is_training_due():
                return
            time.sleep(0.02)

    def _ordered_questions(self) -> list[int]:
        """Return the open questions, the one to show next first."""
        questions = self.session.questions
        questions.sort(key=lambda one: (one.round, one.score), reverse=True)
        return [question.row for question in questions]

    def _is_running_short(self) -> bool:
        """Whether people would soon have to wait for questions that nobody has."""
        return self.leases.n_free(self.session.open_questions) < self.n_questions // 2

    def _is_training_due(self) -> bool:
        n_new, session = self.n_new_answers, self.session
        is_end = not session.open_questions and not session.n_left
        return not self.error and (n_new >= self.n_questions or (n_new > 0 and is_end))

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
            if row * HASH_FACTOR % 2**32 / 2**32 < self._second_opinions
            and len(people := self.session.answers_about(row)) == 1
            and who not in people
        ]

    def _run(self) -> None:
        while not self._is_stopped:
            try:
                self._work()
            except Exception as error:
                if self._is_stopped:
                    return
                if not isinstance(error, IMBoostError):
                    logging.getLogger(__name__).exception("The training failed.")
                self.error = f"The training failed: {error or type(error).__name__}"
            finally:
                self.training = None
            self._is_waiting = True
            self._wake.wait(timeout=1.0)
            self._is_waiting = False
            self._wake.clear()

    def _work(self) -> None:
        """Do what is due: the first training, a training with answers, or more questions."""
        if not self.is_ready:
            if not self.error:
                self._train_first()
        elif self._is_training_due():
            self._fill(self.n_questions)  # something to do while the model is trained
            self._train()
            self._fill(len(self.session.open_questions) + self.n_questions)
        elif self._is_running_short():
            self._fill(len(self.session.open_questions) + self.n_questions)

    def _train_first(self) -> None:
        session = self.session
        self.training = Training(f"training on {count(len(session.rows), 'row')}")
        session.start()
        table, detector = session.X, cast("TableDetector", session.detector)
        identifiers = [c.name for c in detector.schema_ if c.role == Role.IDENTIFIER]
        parsed = detector.schema_.parse(table)
        broken = detector.rules_.broken(parsed) if detector.rules_ else {}
        self.columns = Columns(table, parsed, identifiers, broken, session.rows.numbers)
        self.points = detector.embed(table).astype(np.float32)
        self._fill(self.n_questions)

    def _train(self) -> None:
        n_labelled = int((self.session.labels >= 0).sum())
        self.training = Training(
            f"training with {count(n_labelled, 'answer')}", self._last_seconds
        )
        self.session.refine()
        self._publish()
        self._last_seconds = time.monotonic() - self.training.start
        self.training = None

    def _fill(self, n: int) -> None:
        """Make sure that `n` questions are open, with reasons."""
        if self.session.n_left:
            self.session.top_up(n)
        if not self.is_ready:
            self._publish()
        rows = [row for row in self._ordered_questions() if row not in self.snapshot.explanations]
        for start in range(0, len(rows), EXPLAINED_AT_ONCE):
            self.snapshot.prepare(rows[start : start + EXPLAINED_AT_ONCE])

    def _publish(self) -> None:
        """Show the session's model from now on, with the reasons of the open questions."""
        snapshot = Snapshot(self.session)
        snapshot.prepare(self._ordered_questions()[:EXPLAINED_AT_ONCE])
        self._snapshot = snapshot
