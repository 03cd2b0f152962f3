"""Compare the cells of a table with those of the training table, batch by batch."""

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

CHANGED_SHARE = 0.05  # smallest difference of a share of cells from training that is reported
N_STANDARD_ERRORS = 3  # smaller differences in missing values may be due to chance


@dataclass(frozen=True)
class DataWarning:
    """A difference between a column and the training table, or why the column is not used."""

    column: str
    text: str


class DriftMonitor:
    """Counts missing, unreadable and unseen values of a table that is read in batches.

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
        """Count the cells of a batch."""
        self._n_rows += table.num_rows
        for fact in self._facts:
            if fact.name not in table.column_names:
                self._absent.add(fact.name)
            elif is_supported(table.column(fact.name).type):
                self._count(fact, mask_missing(table.column(fact.name)))

    def findings(self) -> list[DataWarning]:
        """Return everything found, column by column."""
        return [DataWarning(fact.name, text) for fact in self._facts for text in self._texts(fact)]

    def warnings(self) -> list[DataWarning]:
        """Return findings about columns that changed so much that scores may be unreliable."""
        if not self._n_rows:
            return []
        changed = {
            fact.name
            for fact in self._facts
            if self._has_new_values(fact) or self._has_other_missing_share(fact)
        }
        return [finding for finding in self.findings() if finding.column in changed]

    def _has_new_values(self, fact: ColumnFacts) -> bool:
        """Whether many more cells than in training are unreadable or hold unseen values."""
        now = (self._unreadable[fact.name] + self._unseen[fact.name]) / self._n_rows
        return now - fact.n_unread / self._n_training > CHANGED_SHARE

    def _count(self, fact: ColumnFacts, cells: pa.ChunkedArray) -> None:
        self._missing[fact.name] += cells.null_count
        if fact.name not in self._parsers:
            return
        parser = self._parsers[fact.name]
        self._unreadable[fact.name] += n_unread(parser, cells)
        if isinstance(parser, CategoryParser):
            present = pc.drop_null(parser.parse(cells))
            known = pc.is_in(present, value_set=self._levels[fact.name])
            self._unseen[fact.name] += len(present) - (pc.sum(known).as_py() or 0)

    def _texts(self, fact: ColumnFacts) -> list[str]:
        if fact.name in self._absent:
            return ["not in this table; the model does not need it"]
        if not fact.role.is_feature:
            return [_why_unused(fact)] if fact.role != Role.IDENTIFIER else []
        texts = []
        now, then = self._missing_shares(fact)
        if now == 1:
            texts.append("all cells are missing")
        elif abs(now - then) > CHANGED_SHARE:
            texts.append(f"{percent(now)} of cells are missing, {percent(then)} in training")
        if n := self._unreadable[fact.name]:
            unread = self._parsers[fact.name].unread
            texts.append(f"{self._cells(n)} {unread} and count{'s' * (n == 1)} as missing")
        if n := self._unseen[fact.name]:
            texts.append(f"{self._cells(n)} a value not seen in training")
        return texts

    def _missing_shares(self, fact: ColumnFacts) -> tuple[float, float]:
        """Return the share of missing cells of a column, now and in training."""
        return self._missing[fact.name] / self._n_rows, fact.n_missing / self._n_training

    def _has_other_missing_share(self, fact: ColumnFacts) -> bool:
        """Whether the share of missing cells differs from training by more than chance."""
        if not fact.role.is_feature:
            return False
        now, then = self._missing_shares(fact)
        standard_error = sqrt(then * (1 - then) / self._n_rows)
        return abs(now - then) > max(CHANGED_SHARE, N_STANDARD_ERRORS * standard_error)

    def _cells(self, n: int) -> str:
        return "1 cell holds" if n == 1 else f"{n:,} cells ({percent(n / self._n_rows)}) hold"


def _why_unused(fact: ColumnFacts) -> str:
    """Return why a column is not used; its own note is about the training table alone."""
    if fact.role == Role.CONSTANT and fact.n_distinct <= 1:
        return "not used: constant in training"
    return f"not used: {fact.role}"
