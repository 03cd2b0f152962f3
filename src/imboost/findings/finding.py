"""A finding about a table, and what the checks look at."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from imboost.arrays import Indices, Mask
from imboost.facts import Cell, Fact, FactKind
from imboost.relations.relation import Relation, take_rows, to_cells
from imboost.tables.cells import is_supported, to_text
from imboost.tables.roles import Role
from imboost.tables.schema import ParsedColumns, Schema

KINDS = {
    "duplicates": "rows that repeat another row in every column",
    "near-duplicates": "rows that repeat another row in all but one or two columns",
    "repeated-ids": "identifiers that occur more than once",
    "spellings": "other spellings of a category",
    "sentinels": "numbers and dates that stand for a missing value",
    "dates": "dates that cannot be right",
    "units": "numbers in another unit",
    "relations": "rows that break a relation between columns",
    "unreadable": "cells that do not fit the role of their column",
    "changed": "columns that differ from the training table",
}
"""The kinds of findings."""


@dataclass(frozen=True)
class Finding:
    """Something wrong with some rows of a table, or with a column.

    Parameters
    ----------
    kind : str
        See `KINDS`.
    columns : tuple of str
    facts : tuple of Fact
        What is wrong in each row; about a column, one fact without a row.
    """

    kind: str
    columns: tuple[str, ...]
    facts: tuple[Fact, ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """Positions of the rows in the table."""
        return tuple(fact.row for fact in self.facts if fact.row is not None)


@dataclass(frozen=True)
class CheckedTable:
    """A table with everything that checks need to know about it."""

    table: pa.Table
    schema: Schema
    parsed: ParsedColumns
    relations: Sequence[Relation]
    today: datetime.date

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    @cached_property
    def texts(self) -> dict[str, pa.ChunkedArray]:
        """The cells of every column as text without spaces around it."""
        return {
            column.name: to_text(self.table.column(column.name), self.schema.missing_values)
            for column in self.schema
            if is_supported(self.table.column(column.name).type)
        }

    def names(self, *roles: Role) -> list[str]:
        """Return the columns that have one of these roles."""
        return [column.name for column in self.schema if column.role in roles]

    def cells(self, name: str, rows: Indices) -> list[str | None]:
        """Return cells of a column as text, None where they are missing."""
        return list(self.texts[name].take(pa.array(rows, pa.int64())).to_pylist())

    def finding(
        self, kind: str, fact_kind: FactKind, name: str, where: Mask, **details: Any
    ) -> Finding:
        """Return a finding about some cells of one column; `details` are fields of `Fact`."""
        rows = np.flatnonzero(where)
        cells = zip(rows.tolist(), self.cells(name, rows), self._values(name, rows), strict=True)
        facts = (
            Fact(kind=fact_kind, columns=(name,), row=row, text=text, value=value, **details)
            for row, text, value in cells
        )
        return Finding(kind, (name,), tuple(facts))

    def _values(self, name: str, rows: Indices) -> list[Cell]:
        """Return parsed cells of a column, None where they could not be parsed."""
        values = self.parsed.get(name)
        if values is None:
            return [None] * len(rows)
        return to_cells(take_rows({"": values}, rows)[""], name in self.names(Role.DATETIME))
