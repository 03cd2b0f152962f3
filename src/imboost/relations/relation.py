"""What all relations between columns have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from imboost.arrays import Floats, Indices, Mask
from imboost.tables.category_parser import to_categories
from imboost.tables.cells import is_supported
from imboost.tables.schema import ParsedColumns, Schema

Parsed = Mapping[str, Any]
"""Parsed cells by column: floats (nan where missing) or strings in an Arrow array."""


@dataclass(frozen=True, kw_only=True)
class Relation(ABC):
    """A rule that the cells of nearly all rows obey; the first column is its target.

    A rule holds in rows in which one of its cells is missing, and in tables without one of its
    columns.
    """

    columns: tuple[str, ...]
    support: float  # fraction of the training rows with all cells known in which it holds

    kind: ClassVar[str]

    @property
    def target(self) -> str:
        """The column whose value the rule predicts."""
        return self.columns[0]

    @abstractmethod
    def residual(self, parsed: Parsed) -> Floats:
        """Return how strongly each row breaks the rule, 0 where it holds.

        Numbers and times are in units of the target's robust standard deviation; 1 where a
        category or a code is wrong.
        """

    @abstractmethod
    def expected(self, parsed: Parsed) -> Any:
        """Return the target's value by the rule, nan or null where it is unknown."""

    @abstractmethod
    def describe(self, parsed: Parsed, row: int) -> str:
        """Say what the target of a row should be."""

    def holds(self, parsed: Parsed) -> Mask:
        """Return in which rows the rule holds."""
        return np.asarray(self.residual(parsed) == 0)

    def blame(self, parsed: Parsed) -> Indices:
        """Return for each row the index in `columns` of the cell that is most likely wrong."""
        return np.zeros(n_rows(parsed), dtype=np.int64)

    def is_applicable(self, parsed: Parsed) -> bool:
        """Whether all columns of the rule are there."""
        return all(name in parsed for name in self.columns)


def n_rows(parsed: Parsed) -> int:
    """Return the number of rows of parsed columns."""
    return len(next(iter(parsed.values()))) if parsed else 0


def take_rows(parsed: Parsed, rows: Indices) -> ParsedColumns:
    """Return some rows of parsed columns.

    >>> take_rows({"a": np.array([1.0, 2.0, 3.0])}, np.array([2]))["a"].tolist()
    [3.0]
    """
    index = pa.array(rows)
    return {
        name: values[rows] if isinstance(values, np.ndarray) else values.take(index)
        for name, values in parsed.items()
    }


def with_text_columns(schema: Schema, table: pa.Table, parsed: Parsed) -> ParsedColumns:
    """Add the identifier and text columns of a table to its parsed columns, as strings.

    They are not used for scoring, but their codes have formats and decide other columns.

    >>> table = pa.table({"code": [f"A-{row}" for row in range(30)], "x": range(30)})
    >>> schema, parsed = Schema.fit_parse(table, {"x": "numeric"})
    >>> sorted(with_text_columns(schema, table, parsed))
    ['code', 'x']
    """
    unused = {
        column.name: to_categories(table.column(column.name))
        for column in schema
        if column.parser is None
        and column.role in ("identifier", "text")
        and column.name in table.column_names
        and is_supported(table.column(column.name).type)
    }
    return {**parsed, **unused}
