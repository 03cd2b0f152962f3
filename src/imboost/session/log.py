"""The log of a session: an append-only record of questions, answers and rounds of training.

The answers cannot be computed again; everything else a session knows is derived from the log. A
correction is a later entry about the same row, and so is a withdrawal. A `round` is the number of
trainings so far, which is the version of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from imboost.session.answers import Answer


@dataclass(frozen=True)
class Started:
    """Start of a session: its table and the seeds with which everything can be repeated.

    `fingerprint` is a hash of the table, see `imboost.session.table`.
    """

    n_rows: int
    n_features: int
    fingerprint: str
    detector_seed: int
    strategy_seed: int
    when: datetime


@dataclass(frozen=True)
class Asked:
    """A question: the row, the strategy that selected it, and the row's score and rank.

    Rank 1 is the highest score.
    """

    row: int
    round: int
    strategy: str
    score: float
    rank: int
    when: datetime


@dataclass(frozen=True)
class Answered:
    """An answer about a row.

    Parameters
    ----------
    row : int
    answer : Answer
    round : int
        The number of trainings so far: the version of the model.
    who : str
        The person.
    when : datetime
        Answers of one call have the same time, and no others have it.
    score, rank : float, int, optional
        Of the row by the model of that time; None if it was not trained yet.
    strategy : str
        The query strategy that asked about the row; empty if it was not asked about.
    seconds : float, optional
        The time that the person took.
    note : str
    request : str
        Identifies the call, so that a repeated one changes nothing; empty if it had no id.
    resolves : bool
        Whether the answer overrides all answers about the row before it, to end a conflict.
    """

    row: int
    answer: Answer
    round: int
    who: str
    when: datetime
    score: float | None = None
    rank: int | None = None
    strategy: str = ""
    seconds: float | None = None
    note: str = ""
    request: str = ""
    resolves: bool = False


@dataclass(frozen=True)
class Withdrawn:
    """A person's last answer about a row does not count any more; the one before it does."""

    row: int
    round: int
    who: str
    when: datetime
    request: str = ""


@dataclass(frozen=True)
class Refined:
    """The end of a round: the model was trained with the first `n_entries` entries of the log."""

    round: int
    n_entries: int
    when: datetime


Entry = Started | Asked | Answered | Withdrawn | Refined


class SessionLog(Protocol):
    """Storage of a session's entries."""

    def append(self, entries: Sequence[Entry]) -> None:
        """Store all entries or none; they are durable when this returns."""
        ...

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all entries, oldest first."""
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...


class MemoryLog:
    """A log that is lost when the process ends."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def append(self, entries: Sequence[Entry]) -> None:
        """Store the entries."""
        self._entries.extend(entries)

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all entries, oldest first."""
        return iter(tuple(self._entries))

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
