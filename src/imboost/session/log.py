"""The log of a session: an append-only record of questions, answers and rounds of training.

The answers cannot be computed again; everything else a session knows is derived from the log. A
correction is a later entry about the same row, and so is a withdrawal. A `round` is the number of
trainings so far, which is the version of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from imboost.errors import SessionError
from imboost.labels import INLIER, OUTLIER, UNLABELLED


class Answer(StrEnum):
    """Answer to the question whether a row is an outlier.

    INLIER and OUTLIER become labels. UNSURE means that the person cannot decide: the row is not
    asked again. SKIP postpones the row: it may be asked again in a later round.
    """

    INLIER = "inlier"
    OUTLIER = "outlier"
    UNSURE = "unsure"
    SKIP = "skip"

    @property
    def label(self) -> int:
        """The row's label: 0, 1 or -1."""
        return {Answer.INLIER: INLIER, Answer.OUTLIER: OUTLIER}.get(self, UNLABELLED)

    @classmethod
    def parse(cls, value: Any) -> Answer:
        """Convert the text of an answer, or the labels 0 and 1.

        >>> Answer.parse("unsure"), Answer.parse(1)
        (<Answer.UNSURE: 'unsure'>, <Answer.OUTLIER: 'outlier'>)
        """
        try:
            if isinstance(value, str):
                return cls(value.strip().lower())
            return {INLIER: cls.INLIER, OUTLIER: cls.OUTLIER}[value]
        except (ValueError, LookupError, TypeError):
            options = ", ".join(answer.value for answer in cls)
            raise SessionError(
                f"An answer must be one of {options}, 0 or 1, got {value!r}."
            ) from None


@dataclass(frozen=True)
class Started:
    """Start of a session: its table and the seeds with which everything can be repeated."""

    n_rows: int
    n_features: int
    fingerprint: str  # a hash of the table, see `imboost.session.rows`
    detector_seed: int
    strategy_seed: int
    when: datetime


@dataclass(frozen=True)
class Asked:
    """A question: the row, the strategy that selected it, and the row's score and rank."""

    row: int
    round: int
    strategy: str
    score: float
    rank: int
    when: datetime


@dataclass(frozen=True)
class Answered:
    """An answer about a row."""

    row: int
    answer: Answer
    round: int
    who: str
    when: datetime  # the same for the answers of one call, and for no others
    score: float | None = None  # by the model of that time, if it was trained; the rank too
    rank: int | None = None
    strategy: str = ""  # that asked about the row, if any did
    seconds: float | None = None  # that the person took
    note: str = ""
    request: str = ""  # id of the call, so that a repeated one changes nothing
    resolves: bool = False  # overrides all answers about the row before it


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

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all entries, oldest first."""
        ...

    def close(self) -> None:
        """Release files and connections."""


class MemoryLog:
    """A log that is lost when the process ends."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def append(self, entries: Sequence[Entry]) -> None:
        """Store the entries."""
        self._entries.extend(entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def start_of(entries: Sequence[Entry]) -> Started:
    """Return the first entry of a log, which is the start of a session."""
    first = entries[0] if entries else None
    if not isinstance(first, Started):
        raise SessionError("The log does not begin with the start of a session.")
    return first
