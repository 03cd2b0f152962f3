"""A session's log, together with the state that follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from threading import RLock

import numpy as np

from imboost.errors import SessionError, StoreError
from imboost.session.log import Answer, Entry, Refined, SessionLog, Started, start_of
from imboost.session.rows import RowIds
from imboost.session.state import SessionState, TrainingSet
from imboost.validation import check_number


@dataclass(frozen=True)
class Call:
    """The answers of a person in one call; see `Session.tell`."""

    rows: Sequence[int]
    answers: Sequence[Answer | str | int]
    who: str = ""
    seconds: float | None = None
    note: str = ""
    request: str = ""
    resolves: bool = False

    def parse(self, rows: RowIds) -> dict[int, tuple[int, Answer]]:
        """Return the position and the answer of each row; raise if something is wrong."""
        if isinstance(self.answers, str) or not isinstance(self.rows, Sequence | np.ndarray):
            raise SessionError("tell takes a list of rows and a list of answers.")
        if len(self.rows) != len(self.answers):
            raise SessionError(f"Got {len(self.rows)} rows but {len(self.answers)} answers.")
        if self.seconds is not None:
            check_number("seconds", self.seconds, minimum=0.0)
        check_texts(who=self.who, note=self.note, request=self.request)
        positions = rows.positions(self.rows)
        answers = zip(positions, map(Answer.parse, self.answers), strict=True)
        parsed = dict(zip(rows.ids(positions), answers, strict=True))
        if len(parsed) != len(positions):
            raise SessionError("A row may have only one answer in a call.")
        return parsed


class LoggedState:
    """Stores entries in the log, then updates the state; nothing changes if storing fails.

    A thread that writes holds `writing`, also while the log stores the entries. A thread that
    reads the state holds `lock`, and never waits for the log.

    Parameters
    ----------
    log : SessionLog
        It is read once; entries are then added by `record` alone.
    start : Started
        The first entry of a new session; stored if the log is empty.
    """

    def __init__(self, log: SessionLog, start: Started) -> None:
        self.log = log
        self.lock = RLock()
        self._writing = RLock()
        self._unconfirmed: list[Entry] = []  # of which it is not known whether they were stored
        self._training_sets: dict[int, TrainingSet] = {}  # by the number of entries they used
        entries = list(log)
        if not entries:
            entries = [start]
            log.append(entries)
        self.started = start_of(entries)
        self.state = SessionState()
        trained_after = {entry.n_entries for entry in entries if isinstance(entry, Refined)}
        for entry in entries:
            if self.state.n_entries in trained_after:
                self.training_set()
            self._apply([entry])

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other threads from writing; begin with entries that seemed not to be stored."""
        with self._writing:
            if self._unconfirmed:
                stored = list(islice(self.log, self.state.n_entries, None))
                if stored and stored != self._unconfirmed:
                    raise SessionError(
                        "The session is open in another process, which has written to it. Close "
                        "one of them and open the session again."
                    )
                self._unconfirmed = []
                self._apply(stored)
            yield

    def record(self, entries: Sequence[Entry]) -> None:
        """Store entries and update the state; to be called while `writing`."""
        try:
            self.log.append(entries)
        except StoreError:
            self._unconfirmed = list(entries)  # a lost connection does not tell
            raise
        self._apply(entries)

    def now(self) -> datetime:
        """Return the time, later than that of every entry."""
        return max(datetime.now(UTC), self._last_time + timedelta(microseconds=1))

    def training_set(self) -> TrainingSet:
        """Return what a training that begins now uses, and keep it."""
        training_set = self.state.training_set()
        self._training_sets[training_set.n_entries] = training_set
        return training_set

    def rounds(self) -> list[TrainingSet]:
        """Return what each round was trained with."""
        with self.lock:
            return [self._training_sets[entry.n_entries] for entry in self.state.trainings]

    def _apply(self, entries: Sequence[Entry]) -> None:
        with self.lock:
            for entry in entries:
                self.state.apply(entry)
                self._last_time = entry.when


def check_texts(**texts: str) -> None:
    """Raise unless the arguments are texts that every database can store."""
    for name, text in texts.items():
        if not isinstance(text, str):
            raise SessionError(f"{name} must be a text, got {text!r}.")
        if "\0" in text or text != text.encode(errors="ignore").decode():
            raise SessionError(f"{name} must be text without null characters and surrogates.")
