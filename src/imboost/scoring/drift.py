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
from imboost.tables.column_encoders import CategoryEncoder
from imboost.tables.roles import Role
from imboost.tables.schema import ColumnSchema, n_missing_values

CHANGED_SHARE = 0.05  # smallest difference of a fraction of cells from training that is reported
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
        self._schema = detector.schema_
        self._n_training = len(detector.decision_scores_)
        self._categories = {
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
        cells = dict(zip(table.column_names, table.columns, strict=True))
        for column in self._schema:
            if column.name not in cells:
                self._absent.add(column.name)
            elif is_supported(cells[column.name].type):
                self._count(column, mask_missing(cells[column.name]))

    def findings(self) -> list[DataWarning]:
        """Return everything found, column by column."""
        return [
            DataWarning(column.name, text)
            for column in self._schema
            for text in self._texts(column)
        ]

    def warnings(self) -> list[DataWarning]:
        """Return findings about columns that changed so much that scores may be unreliable."""
        if not self._n_rows:
            return []
        changed = {
            column.name
            for column in self._schema
            if self._has_new_values(column) or self._has_other_missing_share(column)
        }
        return [finding for finding in self.findings() if finding.column in changed]

    def _has_new_values(self, column: ColumnSchema) -> bool:
        """Whether many more cells than in training are unreadable or hold unseen values."""
        now = (self._unreadable[column.name] + self._unseen[column.name]) / self._n_rows
        return now - column.n_unparsed / self._n_training > CHANGED_SHARE

    def _count(self, column: ColumnSchema, cells: pa.ChunkedArray) -> None:
        self._missing[column.name] += cells.null_count
        if column.parser is None:
            return
        values = column.parser.parse(cells)
        self._unreadable[column.name] += n_missing_values(values) - cells.null_count
        if column.name in self._categories:
            present = pc.drop_null(values)
            known = pc.is_in(present, value_set=self._categories[column.name])
            self._unseen[column.name] += len(present) - (pc.sum(known).as_py() or 0)

    def _texts(self, column: ColumnSchema) -> list[str]:
        if column.name in self._absent:
            return ["not in this table; the model does not need it"]
        if not column.role.is_feature:
            return [_why_unused(column)] if column.role != Role.IDENTIFIER else []
        texts = []
        now, then = self._missing_shares(column)
        if now == 1:
            texts.append("all cells are missing")
        elif abs(now - then) > CHANGED_SHARE:
            texts.append(f"{percent(now)} of cells are missing, {percent(then)} in training")
        if n := self._unreadable[column.name]:
            content = column.parser.content if column.parser else "value"
            texts.append(f"{self._cells(n)} no {content} and count{'s' * (n == 1)} as missing")
        if n := self._unseen[column.name]:
            texts.append(f"{self._cells(n)} a value not seen in training")
        return texts

    def _missing_shares(self, column: ColumnSchema) -> tuple[float, float]:
        """Return the fraction of missing cells of a column, now and in training."""
        return self._missing[column.name] / self._n_rows, column.n_missing / self._n_training

    def _has_other_missing_share(self, column: ColumnSchema) -> bool:
        """Whether the fraction of missing cells differs from training by more than chance."""
        if not column.role.is_feature:
            return False
        now, then = self._missing_shares(column)
        standard_error = sqrt(then * (1 - then) / self._n_rows)
        return abs(now - then) > max(CHANGED_SHARE, N_STANDARD_ERRORS * standard_error)

    def _cells(self, n: int) -> str:
        return "1 cell holds" if n == 1 else f"{n:,} cells ({percent(n / self._n_rows)}) hold"


def _why_unused(column: ColumnSchema) -> str:
    """Return why a column is not used; its own note is about the training table alone."""
    if column.role == Role.CONSTANT and column.n_distinct <= 1:
        return "not used: constant in training"
    return f"not used: {column.role}"
