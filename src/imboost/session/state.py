"""The state of a session: what follows from the entries of its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from imboost.labels import OUTLIER, UNLABELLED
from imboost.session.consensus import AnnotatorAgreement, consensus, first_two_labels
from imboost.session.log import Answer, Answered, Asked, Entry, Refined, Withdrawn

AUDIT = "audit"  # logged in place of a strategy's name for rows drawn at random

T = TypeVar("T")


@dataclass(frozen=True)
class TrainingSet:
    """What a round is trained with: the state of a session after some of its entries."""

    n_entries: int  # number of these entries
    labels: Mapping[int, int]  # of each labelled row
    audited: frozenset[int]  # rows that were asked about as an audit
    selected: tuple[int, ...]  # labelled rows that the strategy selected, in order of asking


@dataclass(frozen=True)
class Progress:
    """How far a session is."""

    counts: Counter[Answer]  # number of rows with each answer
    is_outlier: list[bool]  # of each row with a label, in the order of answering
    n_open: int  # open questions
    n_conflicts: int  # rows about which people disagree
    agreement: AnnotatorAgreement


class SessionState:
    """Questions, answers and rounds, updated by one entry of the log at a time."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.round = 0  # number of trainings so far
        self.n_entries = self.n_asked = 0  # number of entries and of questions so far
        self.open: dict[int, Asked] = {}  # questions that have no answer
        self.asked: dict[int, Asked] = {}  # the last question about each row
        self.given: dict[int, list[Answered]] = {}  # answers about each row, not withdrawn ones
        self.by_person: dict[str, list[Answered]] = {}  # the same of each person, oldest first
        self.trainings: list[Refined] = []
        # What each call with an id stored: the answer by row and person, None for a withdrawal.
        self.requests: dict[str, dict[tuple[int, str], Answer | None]] = {}
        self.answers: dict[int, Answered] = {}  # that count; rows in conflict are left out
        self.labels: dict[int, int] = {}  # of labelled rows: 0 or 1
        self.counts: Counter[Answer] = Counter()  # number of rows with each answer
        # Number of rows by the labels of the first two people who decided them.
        self.label_pairs: Counter[tuple[int, int]] = Counter()
        for entry in entries:
            self.apply(entry)

    def apply(self, entry: Entry) -> None:
        """Update the state by the next entry of the log."""
        self.n_entries += 1
        match entry:
            case Asked():
                self.open[entry.row] = self.asked[entry.row] = entry
                self.n_asked += 1
            case Answered():
                self.open.pop(entry.row, None)
                self._set_answers(entry.row, [*self.given.get(entry.row, []), entry])
                self.by_person.setdefault(entry.who, []).append(entry)
            case Withdrawn():
                self._withdraw(entry)
            case Refined():
                self.trainings.append(entry)
                self.round = entry.round + 1
        if isinstance(entry, Answered | Withdrawn) and entry.request:
            answer = entry.answer if isinstance(entry, Answered) else None
            self.requests.setdefault(entry.request, {})[entry.row, entry.who] = answer

    @property
    def conflicts(self) -> list[int]:
        """Rows about which people disagree."""
        return [row for row in self.given if row not in self.answers]

    def progress(self) -> Progress:
        """Return how far the session is."""
        return Progress(
            +self.counts,
            [label == OUTLIER for label in self.labels.values()],
            len(self.open),
            len(self.given) - len(self.answers),
            AnnotatorAgreement.measure(self.label_pairs),
        )

    def last_call(self, who: str) -> list[Answered]:
        """Return the answers of a person's last call that has not been withdrawn."""
        given = self.by_person.get(who, [])
        return [entry for entry in given if entry.when == given[-1].when]

    def taken(self) -> set[int]:
        """Return rows not to be asked about: open questions and answers other than old skips."""
        skipped = {
            row
            for row, entry in self.answers.items()
            if entry.answer is Answer.SKIP and entry.round < self.round
        }
        return (self.given.keys() - skipped) | self.open.keys()

    def training_set(self) -> TrainingSet:
        """Return what a training that begins now uses."""
        audited = frozenset(row for row, asked in self.asked.items() if asked.strategy == AUDIT)
        selected = tuple(row for row in self.asked if row in self.labels and row not in audited)
        return TrainingSet(self.n_entries, dict(self.labels), audited, selected)

    def _withdraw(self, entry: Withdrawn) -> None:
        """Remove a person's last answer; without any other, the row is the next question."""
        given = self.given[entry.row]
        last = [one for one in given if one.who == entry.who][-1]
        self.by_person[entry.who].remove(last)
        left = [one for one in given if one is not last]
        self._set_answers(entry.row, left)
        if not left and entry.row in self.asked:
            self.open = {entry.row: self.asked[entry.row], **self.open}

    def _set_answers(self, row: int, given: list[Answered]) -> None:
        """Update what follows from the answers about a row."""
        counting = consensus(given) if given else None
        before = (self.given.get(row, []), self.answers.get(row))
        for (answers, counted), change in ((before, -1), ((given, counting), 1)):
            if (pair := first_two_labels(answers)) is not None:
                self.label_pairs[pair] += change
            if counted is not None:
                self.counts[counted.answer] += change
        label = UNLABELLED if counting is None else counting.answer.label
        _set_or_remove(self.given, row, given or None)
        _set_or_remove(self.answers, row, counting)
        _set_or_remove(self.labels, row, None if label == UNLABELLED else label)


def _set_or_remove(values: dict[int, T], row: int, value: T | None) -> None:
    if value is None:
        values.pop(row, None)
    else:
        values[row] = value
