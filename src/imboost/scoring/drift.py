"""Compare the cells of a table with those of the training table, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import sqrt

import pyarrow as pa
import pyarrow.compute as pc

from imboost.detectors.table_detector import TableDetector
from imboost.facts import Fact, FactKind
from imboost.tables.encoder import CategoryEncoder
from imboost.tables.roles import Role
from imboost.tables.schema import Cells, ColumnSchema, ParsedColumns, n_missing_values

MIN_CHANGE = 0.05  # smallest difference of a fraction of cells from training that is reported
N_STANDARD_ERRORS = 3  # smaller differences in missing values may be due to chance

Changes = dict[str, Counter[str]]
"""Number of cells by kind and column: missing, unreadable, unseen in training. Columns that are
absent count 1."""


def no_changes() -> Changes:
    """Return counts of 0."""
    return {kind: Counter() for kind in ("absent", "missing", "unreadable", "unseen")}


def count_changes(
    detector: TableDetector, table: pa.Table, cells: Cells, parsed: ParsedColumns
) -> Changes:
    """Count the cells of a batch, which `detector.schema_` parsed."""
    changes = no_changes()
    names = set(table.column_names)
    changes["absent"].update(one.name for one in detector.schema_ if one.name not in names)
    for name, values in parsed.items():
        n_missing, encoder = cells[name].null_count, detector.encoder_.encoders[name]
        changes["missing"][name] = n_missing
        changes["unreadable"][name] = n_missing_values(values) - n_missing
        if isinstance(encoder, CategoryEncoder):
            present = pc.drop_null(values)
            known = pc.is_in(present, value_set=encoder.known_categories)
            changes["unseen"][name] = len(present) - (pc.sum(known).as_py() or 0)
    return changes


@dataclass(frozen=True, eq=False)
class Drift:
    """Differences between a table and the training table."""

    detector: TableDetector
    n_rows: int  # rows of the table
    changes: Changes  # the sums of what `count_changes` returned for its batches

    @classmethod
    def of_table(cls, detector: TableDetector, table: pa.Table) -> Drift:
        """Compare a table in memory; columns may be absent."""
        cells = detector.schema_.cells(table)
        parsed = detector.schema_.parse_cells(cells)
        return cls(detector, table.num_rows, count_changes(detector, table, cells, parsed))

    def findings(self) -> list[Fact]:
        """Return how columns differ from training or why they are not used, column by column."""
        return [fact for column in self._columns for fact in self._facts(column)]

    def warnings(self) -> list[Fact]:
        """Return findings about columns that changed so much that scores may be unreliable."""
        changed = filter(self._has_changed, self._columns)
        return [fact for column in changed for fact in self._facts(column)]

    @property
    def _columns(self) -> tuple[ColumnSchema, ...]:
        """The columns of the training table; none if there is no row to compare."""
        return self.detector.schema_.columns if self.n_rows else ()

    def _has_changed(self, column: ColumnSchema) -> bool:
        """Whether many values are new, or far more or fewer than in training are missing."""
        new = self.changes["unreadable"][column.name] + self.changes["unseen"][column.name]
        n_training = len(self.detector.decision_scores_)
        if new / self.n_rows - column.n_unparsed / n_training > MIN_CHANGE:
            return True
        now, then = self._missing_fractions(column)
        standard_error = sqrt(then * (1 - then) / self.n_rows)
        limit = max(MIN_CHANGE, N_STANDARD_ERRORS * standard_error)
        return column.role.is_feature and abs(now - then) > limit

    def _missing_fractions(self, column: ColumnSchema) -> tuple[float, float]:
        """Return the fraction of missing cells of a column, now and in training."""
        now = self.changes["missing"][column.name] / self.n_rows
        return now, column.n_missing / len(self.detector.decision_scores_)

    def _facts(self, column: ColumnSchema) -> Iterator[Fact]:
        fact = partial(Fact, columns=(column.name,))
        now, then = self._missing_fractions(column)
        if column.name in self.changes["absent"]:
            content = column.parser.content if column.parser else ""
            yield fact(kind=FactKind.ABSENT_COLUMN, content=content)
        elif column.role == Role.IDENTIFIER:
            return
        elif column.parser is None:  # its note describes only the training table
            yield fact(kind=FactKind.UNUSED_COLUMN, value=str(column.role))
        else:
            if now == 1 or abs(now - then) > MIN_CHANGE:
                yield fact(kind=FactKind.MISSING_CELLS, share=now, reference_share=then)
            for kind, changes in (
                (FactKind.UNREADABLE_CELLS, "unreadable"),
                (FactKind.UNSEEN_VALUES, "unseen"),
            ):
                if n := self.changes[changes][column.name]:
                    content = column.parser.content
                    yield fact(kind=kind, share=n / self.n_rows, n_cells=n, content=content)
