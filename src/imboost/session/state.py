"""The state of a session: what follows from the entries of its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from imboost.errors import SessionError
from imboost.labels import OUTLIER, UNLABELLED
from imboost.session.answers import Answer
from imboost.session.consensus import AnnotatorAgreement, consensus, first_two_labels
from imboost.session.log import Answered, Asked, Entry, Refined, Started, Withdrawn

AUDIT = "audit"  # logged in place of a strategy's name for rows drawn at random


@dataclass(frozen=True)
class TrainingSet:
    """What a round is trained with: the state of a session after some of its entries.

    Parameters
    ----------
    n_entries : int
        Number of these entries.
    labels : dict of int to int
        The label of each labelled row.
    audited : frozenset of int
        Rows that were asked about as an audit.
    selected : tuple of int
        Labelled rows that the strategy selected, in the order in which they were asked about.
    """

    n_entries: int
    labels: Mapping[int, int]
    audited: frozenset[int]
    selected: tuple[int, ...]


@dataclass(frozen=True)
class Progress:
    """How far a session is.

    Parameters
    ----------
    counts : Counter of Answer
        Number of rows with each answer.
    is_outlier : list of bool
        For each row with a label, in the order of answering, whether it is an outlier.
    n_open, n_conflicts : int
        Number of open questions, and of rows about which people disagree.
    agreement : AnnotatorAgreement
    """

    counts: Counter[Answer]
    is_outlier: list[bool]
    n_open: int
    n_conflicts: int
    agreement: AnnotatorAgreement


class SessionState:
    """Questions, answers and rounds, updated by one entry of the log at a time.

    Attributes
    ----------
    round : int
        Number of trainings so far.
    n_entries, n_asked : int
        Number of entries and of questions so far.
    open : dict of int to Asked
        Questions that have no answer.
    asked : dict of int to Asked
        The last question about each row.
    answers : dict of int to Answered
        The answer that counts, of each row about which people do not disagree.
    given : dict of int to list of Answered
        All answers about each answered row, oldest first, without those withdrawn.
    by_person : dict of str to list of Answered
        All answers of each person, oldest first, without those withdrawn.
    trainings : list of Refined
    requests : dict of str to dict
        What each call with an id stored: the answer by row and person, None for a withdrawal.
    labels : dict of int to int
        The label of each labelled row: 0 or 1.
    label_pairs : Counter of tuple
        Number of rows by the labels of the first two people who decided them.
    """

    def __init__(self) -> None:
        self.round = self.n_entries = self.n_asked = 0
        self.open: dict[int, Asked] = {}
        self.asked: dict[int, Asked] = {}
        self.answers: dict[int, Answered] = {}
        self.given: dict[int, list[Answered]] = {}
        self.by_person: dict[str, list[Answered]] = {}
        self.trainings: list[Refined] = []
        self.requests: dict[str, dict[tuple[int, str], Answer | None]] = {}
        self.labels: dict[int, int] = {}
        self.label_pairs: Counter[tuple[int, int]] = Counter()

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> SessionState:
        """Return the state after all entries of a log."""
        state = cls()
        for entry in entries:
            state.apply(entry)
        return state

    def apply(self, entry: Entry) -> None:
        """Update the state by the next entry of the log."""
        self.n_entries += 1
        match entry:
            case Asked():
                self.open[entry.row] = self.asked[entry.row] = entry
                self.n_asked += 1
            case Answered():
                self.open.pop(entry.row, None)
                before = self.given.get(entry.row, [])
                self._set_answers(entry.row, [*before, entry])
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
            Counter(entry.answer for entry in self.answers.values()),
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
        for answers, change in ((self.given.get(row, []), -1), (given, 1)):
            if (pair := first_two_labels(answers)) is not None:
                self.label_pairs[pair] += change
        counts = consensus(given) if given else None
        if given:
            self.given[row] = given
        else:
            self.given.pop(row, None)
        if counts is None:
            self.answers.pop(row, None)
        else:
            self.answers[row] = counts
        if counts is None or counts.answer.label == UNLABELLED:
            self.labels.pop(row, None)
        else:
            self.labels[row] = counts.answer.label


def start_of(entries: Sequence[Entry]) -> Started:
    """Return the first entry of a log, which is the start of a session."""
    first = entries[0] if entries else None
    if not isinstance(first, Started):
        raise SessionError("The log does not begin with the start of a session.")
    return first
