"""A session's log together with the state that follows from it, for several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from threading import RLock

from imboost.errors import SessionError, StoreError
from imboost.session.log import Entry, Refined, SessionLog, Started
from imboost.session.state import SessionState, TrainingSet, start_of


class Journal:
    """Stores entries, then updates the state by them; nothing changes if storing fails.

    Parameters
    ----------
    log : SessionLog
        It is read once; entries are then added through the journal alone.
    start : callable
        Returns the first entry of a new session; called if the log is empty.

    Attributes
    ----------
    started : Started
        The first entry.
    state : SessionState
    lock : RLock
        To be held while the state is read or entries are recorded.
    training_sets : dict of int to TrainingSet
        What each round was trained with, by the number of entries that it used.
    """

    def __init__(self, log: SessionLog, start: Callable[[], Started]) -> None:
        self.log = log
        self._unconfirmed: list[Entry] = []  # of which it is not known whether they were stored
        self.lock = RLock()
        self.training_sets: dict[int, TrainingSet] = {}
        entries = list(log)
        if not entries:
            entries = [start()]
            log.append(entries)
        self.started = start_of(entries)
        self.state = SessionState(self.started.n_rows)
        self._replay(entries)

    def record(self, entries: Sequence[Entry]) -> None:
        """Store entries and update the state."""
        try:
            self.log.append(entries)
        except StoreError:
            self._unconfirmed = list(entries)  # a lost connection does not tell
            raise
        self._apply(entries)

    def catch_up(self) -> None:
        """Apply entries that were stored although storing them seemed to fail."""
        if not self._unconfirmed:
            return
        found = list(islice(self.log, self.state.n_entries, None))
        if found and found != self._unconfirmed:
            raise SessionError(
                "The session is open in another process, which has written to it. Close one of "
                "them and open the session again."
            )
        self._unconfirmed = []
        self._apply(found)

    def now(self) -> datetime:
        """Return the time, later than that of every entry."""
        return max(datetime.now(UTC), self._last_time + timedelta(microseconds=1))

    def training_set(self) -> TrainingSet:
        """Return what a training that begins now uses, and keep it."""
        training_set = self.state.training_set()
        self.training_sets[self.state.n_entries] = training_set
        return training_set

    def close(self) -> None:
        """Release the files or connections of the log."""
        self.log.close()

    def _replay(self, entries: Sequence[Entry]) -> None:
        trained_after = {entry.n_entries for entry in entries if isinstance(entry, Refined)}
        for entry in entries:
            if self.state.n_entries in trained_after:
                self.training_set()
            self._apply([entry])

    def _apply(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self.state.apply(entry)
            self._last_time = entry.when
