"""Compare the cells of a table with those of the training table, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
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
    """Differences between a table and the training table.

    Parameters
    ----------
    detector : TableDetector
    n_rows : int
        Rows of the table.
    changes : dict
        The sums of what `count_changes` returned for its batches.
    """

    detector: TableDetector
    n_rows: int
    changes: Changes

    @classmethod
    def of_table(cls, detector: TableDetector, table: pa.Table) -> Drift:
        """Compare a table in memory; columns may be absent."""
        cells = detector.schema_.cells(table)
        parsed = detector.schema_.parse_cells(cells)
        return cls(detector, table.num_rows, count_changes(detector, table, cells, parsed))

    def findings(self) -> list[Fact]:
        """Return how columns differ from training or why they are not used, column by column."""
        if not self.n_rows:
            return []
        return [fact for column in self.detector.schema_ for fact in self._facts(column)]

    def warnings(self) -> list[Fact]:
        """Return findings about columns that changed so much that scores may be unreliable."""
        if not self.n_rows:
            return []
        schema = self.detector.schema_
        changed = {column.name for column in schema if self._has_changed(column)}
        return [finding for finding in self.findings() if finding.column in changed]

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
        columns, now, then = (column.name,), *self._missing_fractions(column)
        if column.name in self.changes["absent"]:
            content = column.parser.content if column.parser else ""
            yield Fact(kind=FactKind.ABSENT_COLUMN, columns=columns, content=content)
        elif column.role == Role.IDENTIFIER:
            return
        elif column.parser is None:  # its note describes only the training table
            yield Fact(kind=FactKind.UNUSED_COLUMN, columns=columns, value=str(column.role))
        else:
            if now == 1 or abs(now - then) > MIN_CHANGE:
                kind = FactKind.MISSING_CELLS
                yield Fact(kind=kind, columns=columns, share=now, reference_share=then)
            for kind, n in (
                (FactKind.UNREADABLE_CELLS, self.changes["unreadable"][column.name]),
                (FactKind.UNSEEN_VALUES, self.changes["unseen"][column.name]),
            ):
                if n:
                    share, content = n / self.n_rows, column.parser.content
                    yield Fact(kind=kind, columns=columns, share=share, n_cells=n, content=content)
