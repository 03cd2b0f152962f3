"""The state of a session: what follows from the entries of its log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imboost.arrays import Indices, Mask
from imboost.errors import SessionError
from imboost.labels import UNLABELLED, Labels, unlabelled
from imboost.session.answers import Answer
from imboost.session.consensus import consensus
from imboost.session.log import Answered, Asked, Entry, Refined, Started, Withdrawn

AUDIT = "audit"  # logged in place of a strategy's name for rows drawn at random


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What a round is trained with: the state of a session after some of its entries.

    Parameters
    ----------
    rows, labels : array
        The labelled rows, and the label of each.
    audited : array
        Rows that were asked about as an audit.
    selected : array
        Labelled rows that the strategy selected, in the order in which they were asked about.
    """

    rows: Indices
    labels: Labels
    audited: Indices
    selected: Indices

    def label_array(self, n_rows: int) -> Labels:
        """Return the label of every row."""
        labels = unlabelled(n_rows)
        labels[self.rows] = self.labels
        return labels

    def audit_mask(self, n_rows: int) -> Mask:
        """Return whether each row is part of the audit."""
        is_audit = np.zeros(n_rows, dtype=bool)
        is_audit[self.audited] = True
        return is_audit


class SessionState:
    """Questions, answers and rounds, updated by one entry of the log at a time.

    Parameters
    ----------
    n_rows : int

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
    audited : set of int
        Rows whose last question was part of an audit.
    answers : dict of int to Answered
        The answer that counts, of each row about which people do not disagree.
    given : dict of int to list of Answered
        All answers about each answered row, oldest first, without those withdrawn.
    by_person : dict of str to list of Answered
        All answers of each person, oldest first, without those withdrawn.
    trainings : list of Refined
    requests : set of str
        Ids of the calls that were stored.
    labels : array of shape (n_rows,)
        0, 1 or -1.
    """

    def __init__(self, n_rows: int) -> None:
        self.round = self.n_entries = self.n_asked = 0
        self.open: dict[int, Asked] = {}
        self.asked: dict[int, Asked] = {}
        self.audited: set[int] = set()
        self.answers: dict[int, Answered] = {}
        self.given: dict[int, list[Answered]] = {}
        self.by_person: dict[str, list[Answered]] = {}
        self.trainings: list[Refined] = []
        self.requests: set[str] = set()
        self.labels = unlabelled(n_rows)

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> SessionState:
        """Return the state after all entries of a log."""
        state = cls(start_of(entries).n_rows)
        for entry in entries:
            state.apply(entry)
        return state

    def apply(self, entry: Entry) -> None:
        """Update the state by the next entry of the log."""
        self.n_entries += 1
        match entry:
            case Asked():
                self._ask(entry)
            case Answered():
                self.given.setdefault(entry.row, []).append(entry)
                self.by_person.setdefault(entry.who, []).append(entry)
                self.open.pop(entry.row, None)
                self._settle(entry.row)
            case Withdrawn():
                self._withdraw(entry)
            case Refined():
                self.trainings.append(entry)
                self.round = entry.round + 1
            case Started():
                pass
        if isinstance(entry, Answered | Withdrawn) and entry.request:
            self.requests.add(entry.request)

    @property
    def conflicts(self) -> list[int]:
        """Rows about which people disagree."""
        return [row for row in self.given if row not in self.answers]

    def last_call(self, who: str) -> list[Answered]:
        """Return the answers of a person's last call that has not been withdrawn."""
        own = self.by_person.get(who, [])
        return [entry for entry in own if entry.when == own[-1].when]

    def candidates(self) -> Indices:
        """Return rows without question or answer, and rows skipped in an earlier round."""
        is_free = np.ones(len(self.labels), dtype=bool)
        is_free[list(self.given)] = False
        for row, entry in self.answers.items():
            is_free[row] = entry.answer is Answer.SKIP and entry.round < self.round
        is_free[list(self.open)] = False
        return np.flatnonzero(is_free)

    def training_set(self) -> TrainingSet:
        """Return what a training that begins now uses."""
        rows = np.flatnonzero(self.labels != UNLABELLED)
        audited = np.array(sorted(self.audited), dtype=np.int64)
        asked = np.array(list(self.asked), dtype=np.int64)
        is_selected = (self.labels[asked] != UNLABELLED) & ~np.isin(asked, audited)
        return TrainingSet(rows, self.labels[rows], audited, asked[is_selected])

    def _ask(self, entry: Asked) -> None:
        self.open[entry.row] = self.asked[entry.row] = entry
        self.n_asked += 1
        (self.audited.add if entry.strategy == AUDIT else self.audited.discard)(entry.row)

    def _withdraw(self, entry: Withdrawn) -> None:
        """Remove a person's last answer; without any other, the row is the next question."""
        given = self.given[entry.row]
        last = [own for own in given if own.who == entry.who][-1]
        given.remove(last)
        self.by_person[entry.who].remove(last)
        if not given:
            del self.given[entry.row]
            if entry.row in self.asked:
                self.open = {entry.row: self.asked[entry.row], **self.open}
        self._settle(entry.row)

    def _settle(self, row: int) -> None:
        """Update the row's label by the answers about it."""
        given = self.given.get(row)
        found = consensus(given) if given else None
        if found is None:
            self.answers.pop(row, None)
        else:
            self.answers[row] = found
        self.labels[row] = UNLABELLED if found is None else found.answer.label


def start_of(entries: Sequence[Entry]) -> Started:
    """Return the first entry of a log, which is the start of a session."""
    first = entries[0] if entries else None
    if not isinstance(first, Started):
        raise SessionError("The log does not begin with the start of a session.")
    return first
