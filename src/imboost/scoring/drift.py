"""What a table has that its model's training table had not, counted piece by piece."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt

import pyarrow as pa
import pyarrow.compute as pc

from imboost.detectors.table_detector import TableDetector
from imboost.reporting.formatting import percent
from imboost.tables.cells import is_supported, mask_missing
from imboost.tables.encoder import CategoryEncoder
from imboost.tables.parsers import CategoryParser, n_unread
from imboost.tables.roles import ColumnFacts, Role

CHANGED_SHARE = 0.05
"""A share of missing cells that differs by more from that in training is told."""

CHANCE = 3
"""Shares of few rows differ by chance: so many standard errors are not striking yet."""


@dataclass(frozen=True)
class Problem:
    """Something that a parser should know about a column."""

    column: str
    text: str


class DataProblems:
    """Counts what is odd about the cells of a table, compared with the training table.

    Parameters
    ----------
    detector : TableDetector
        Trained on a table with the same columns.
    """

    def __init__(self, detector: TableDetector) -> None:
        self._facts = detector.facts_
        self._n_training = len(detector.decision_scores_)
        self._parsers = {
            name: encoder.parser for name, encoder in detector.encoder_.encoders.items()
        }
        self._levels = {
            name: pa.array([*encoder.categories, *encoder.frequency_bins])
            for name, encoder in detector.encoder_.encoders.items()
            if isinstance(encoder, CategoryEncoder)
        }
        self._n_rows = 0
        self._absent: set[str] = set()
        self._missing: Counter[str] = Counter()
        self._unreadable: Counter[str] = Counter()
        self._unseen: Counter[str] = Counter()

    def add(self, table: pa.Table) -> None:
        """Look at some rows."""
        self._n_rows += table.num_rows
        for fact in self._facts:
            if fact.name not in table.column_names:
                self._absent.add(fact.name)
            elif is_supported(table.column(fact.name).type):
                self._look_at(fact, mask_missing(table.column(fact.name)))

    def found(self) -> list[Problem]:
        """Return all problems, column by column."""
        return [
            Problem(fact.name, text) for fact in self._facts for text in self._problems_of(fact)
        ]

    def striking(self) -> list[Problem]:
        """Return what is odd about so many cells of a column that scores may mean little."""
        if not self._n_rows:
            return []
        many = {fact.name for fact in self._facts if self._is_odd(fact)}
        many |= {fact.name for fact in self._facts if self._is_gap_striking(fact)}
        return [problem for problem in self.found() if problem.column in many]

    def _is_odd(self, fact: ColumnFacts) -> bool:
        """Whether many more cells than in training cannot be read, or say something new."""
        now = (self._unreadable[fact.name] + self._unseen[fact.name]) / self._n_rows
        return now - fact.n_unread / self._n_training > CHANGED_SHARE

    def _look_at(self, fact: ColumnFacts, cells: pa.ChunkedArray) -> None:
        self._missing[fact.name] += cells.null_count
        if fact.name not in self._parsers:
            return
        parser = self._parsers[fact.name]
        self._unreadable[fact.name] += n_unread(parser, cells)
        if isinstance(parser, CategoryParser):
            present = pc.drop_null(parser.parse(cells))
            known = pc.is_in(present, value_set=self._levels[fact.name])
            self._unseen[fact.name] += len(present) - (pc.sum(known).as_py() or 0)

    def _problems_of(self, fact: ColumnFacts) -> list[str]:
        if fact.name in self._absent:
            return ["is not in this table; it is not needed"]
        if not fact.role.is_feature:
            return [_why_unused(fact)] if fact.role != Role.IDENTIFIER else []
        texts = []
        now, then = self._missing_shares(fact)
        if now == 1:
            texts.append("all cells are missing")
        elif abs(now - then) > CHANGED_SHARE:
            texts.append(f"{now:.0%} of the cells are missing; in training {then:.0%} were")
        if n := self._unreadable[fact.name]:
            texts.append(f"{self._cells(n)} {self._parsers[fact.name].unread}, taken as missing")
        if n := self._unseen[fact.name]:
            texts.append(f"{self._cells(n)} something that was not there in training")
        return texts

    def _missing_shares(self, fact: ColumnFacts) -> tuple[float, float]:
        """Return the share of a column's cells that are missing now, and that in training."""
        return self._missing[fact.name] / self._n_rows, fact.n_missing / self._n_training

    def _is_gap_striking(self, fact: ColumnFacts) -> bool:
        """Whether far more or fewer cells are missing than in training, and not by chance."""
        if not fact.role.is_feature:
            return False
        now, then = self._missing_shares(fact)
        by_chance = CHANCE * sqrt(then * (1 - then) / self._n_rows)
        return abs(now - then) > max(CHANGED_SHARE, by_chance)

    def _cells(self, n: int) -> str:
        return "1 cell says" if n == 1 else f"{n:,} cells ({percent(n / self._n_rows)}) say"


def _why_unused(fact: ColumnFacts) -> str:
    """Say why a column is not looked at; its note is about the training table alone."""
    if fact.role == Role.CONSTANT and fact.n_distinct <= 1:
        return "constant in training, not looked at"
    return f"{fact.role}: not looked at"
