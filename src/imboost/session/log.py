"""The log of a session: an append-only record of questions, answers and rounds of training.

The answers cannot be computed again; everything else a session knows is derived from the log. A
correction is a later entry about the same row.
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

    `fingerprint` is a hash of the table, see `imboost.session.fingerprint`.
    """

    n_rows: int
    n_features: int
    fingerprint: str
    detector_seed: int
    strategy_seed: int
    when: datetime


@dataclass(frozen=True)
class Asked:
    """A question: the row, the strategy that selected it and the row's score.

    `round` is the number of rounds trained so far, which identifies the model as well.
    """

    row: int
    round: int
    strategy: str
    score: float
    when: datetime


@dataclass(frozen=True)
class Answered:
    """An answer: the row, the answer, the round, the person and the time."""

    row: int
    answer: Answer
    round: int
    who: str
    when: datetime


@dataclass(frozen=True)
class Refined:
    """The end of a round: the model was trained with the first `n_answers` answers of the log."""

    round: int
    n_answers: int
    when: datetime


Entry = Started | Asked | Answered | Refined


class SessionLog(Protocol):
    """Storage of a session's entries."""

    def append(self, entries: Sequence[Entry]) -> None:
        """Store all entries or none; they are durable when this returns."""
        ...

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all entries, oldest first."""
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

    def __len__(self) -> int:
        return len(self._entries)
