"""Compare the cells of a table with those of the training table, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from imboost.detectors.table_detector import TableDetector
from imboost.facts import Fact, FactKind
from imboost.tables.cells import is_supported, mask_missing
from imboost.tables.column_encoders import CategoryEncoder
from imboost.tables.roles import Role
from imboost.tables.schema import ColumnSchema, n_missing_values

MIN_CHANGE = 0.05  # smallest difference of a fraction of cells from training that is reported
N_STANDARD_ERRORS = 3  # smaller differences in missing values may be due to chance


class DriftMonitor:
    """Counts missing, unreadable and unseen values of a table that is read in batches."""

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
        columns = dict(zip(table.column_names, table.columns, strict=True))
        for column in self._schema:
            name = column.name
            if name not in columns:
                self._absent.add(name)
            elif column.parser is not None and is_supported(columns[name].type):
                cells = mask_missing(columns[name])
                values = column.parser.parse(cells)
                self._missing[name] += cells.null_count
                self._unreadable[name] += n_missing_values(values) - cells.null_count
                if name in self._categories:
                    present = pc.drop_null(values)
                    known = pc.is_in(present, value_set=self._categories[name])
                    self._unseen[name] += len(present) - (pc.sum(known).as_py() or 0)

    def counts(self) -> dict[str, Any]:
        """Return what was counted, in a form that JSON can hold."""
        return {
            "n_rows": self._n_rows,
            "absent": sorted(self._absent),
            **{name: dict(counter) for name, counter in self._counters().items()},
        }

    def add_counts(self, counts: Mapping[str, Any]) -> None:
        """Add what another monitor counted in other rows."""
        self._n_rows += counts["n_rows"]
        self._absent.update(counts["absent"])
        for name, counter in self._counters().items():
            counter.update(counts[name])

    def _counters(self) -> dict[str, Counter[str]]:
        return {
            "missing": self._missing,
            "unreadable": self._unreadable,
            "unseen": self._unseen,
        }

    def findings(self) -> list[Fact]:
        """Return how columns differ from training or why they are not used, column by column."""
        if not self._n_rows:
            return []
        return [fact for column in self._schema for fact in self._facts(column)]

    def warnings(self) -> list[Fact]:
        """Return findings about columns that changed so much that scores may be unreliable."""
        if not self._n_rows:
            return []
        changed = {column.name for column in self._schema if self._has_changed(column)}
        return [finding for finding in self.findings() if finding.column in changed]

    def _has_changed(self, column: ColumnSchema) -> bool:
        """Whether many values are new, or far more or fewer than in training are missing."""
        new = (self._unreadable[column.name] + self._unseen[column.name]) / self._n_rows
        if new - column.n_unparsed / self._n_training > MIN_CHANGE:
            return True
        now, then = self._missing_fractions(column)
        standard_error = sqrt(then * (1 - then) / self._n_rows)
        limit = max(MIN_CHANGE, N_STANDARD_ERRORS * standard_error)
        return column.role.is_feature and abs(now - then) > limit

    def _missing_fractions(self, column: ColumnSchema) -> tuple[float, float]:
        """Return the fraction of missing cells of a column, now and in training."""
        return self._missing[column.name] / self._n_rows, column.n_missing / self._n_training

    def _facts(self, column: ColumnSchema) -> Iterator[Fact]:
        columns, now, then = (column.name,), *self._missing_fractions(column)
        if column.name in self._absent:
            yield Fact(kind=FactKind.ABSENT_COLUMN, columns=columns)
        elif column.role == Role.IDENTIFIER:
            return
        elif column.parser is None:  # its note describes only the training table
            yield Fact(kind=FactKind.UNUSED_COLUMN, columns=columns, value=str(column.role))
        else:
            if now == 1 or abs(now - then) > MIN_CHANGE:
                kind = FactKind.MISSING_CELLS
                yield Fact(kind=kind, columns=columns, share=now, reference_fraction=then)
            for kind, n in (
                (FactKind.UNREADABLE_CELLS, self._unreadable[column.name]),
                (FactKind.UNSEEN_VALUES, self._unseen[column.name]),
            ):
                if n:
                    share, content = n / self._n_rows, column.parser.content
                    yield Fact(kind=kind, columns=columns, share=share, n_cells=n, content=content)
