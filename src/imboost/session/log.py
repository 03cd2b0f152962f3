"""The record of a session: what was asked, answered and trained, in order, never changed.

Answers are the one thing that cannot be computed again. Everything else a session knows is
derived from this record; a correction is a later entry about the same row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from imboost.session.answers import Answer


@dataclass(frozen=True)
class Started:
    """The beginning: the table's shape and the seeds from which everything can be repeated."""

    n_rows: int
    n_features: int
    detector_seed: int
    strategy_seed: int
    when: datetime


@dataclass(frozen=True)
class Asked:
    """A question: which row, chosen by which strategy at which score.

    `round` counts the trainings with answers so far, and so tells the model's version too.
    """

    row: int
    round: int
    strategy: str
    score: float
    when: datetime


@dataclass(frozen=True)
class Answered:
    """An answer: which row, what was said, in which round, by whom and when."""

    row: int
    answer: Answer
    round: int
    who: str
    when: datetime


@dataclass(frozen=True)
class Refined:
    """The model was trained with all answers up to here; `round` is the one it ended."""

    round: int
    when: datetime


Entry = Started | Asked | Answered | Refined


class SessionLog(Protocol):
    """Where a session keeps its record."""

    def append(self, entries: Sequence[Entry]) -> None:
        """Keep all entries or none; when this returns, they are kept."""
        ...

    def __iter__(self) -> Iterator[Entry]:
        """Go through all entries in the order in which they came."""
        ...


class MemoryLog:
    """A record that lives as long as the process."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def append(self, entries: Sequence[Entry]) -> None:
        """Keep the entries."""
        self._entries.extend(entries)

    def __iter__(self) -> Iterator[Entry]:
        """Go through the entries in order."""
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)
