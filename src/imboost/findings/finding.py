"""A finding about a table, and what the checks look at."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from imboost.arrays import Mask
from imboost.facts import Cell, Fact, FactKind
from imboost.relations.relation import take_rows, to_cells
from imboost.tables.cells import is_supported, to_text
from imboost.tables.roles import Role
from imboost.tables.schema import ParsedColumns, Schema

Found = tuple[tuple[str, ...], list[Fact]]
"""What a check yields: columns, and what is wrong in each row."""


@dataclass(frozen=True)
class Finding:
    """Something wrong with some rows of a table, or with a column."""

    kind: str  # one of `KINDS`
    columns: tuple[str, ...]
    facts: Sequence[Fact]  # what is wrong in each row; about a column, one fact without a row

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
    today: datetime.date

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

    def cells(self, kind: FactKind, name: str, where: Mask, **details: Any) -> Found:
        """Return facts about some cells of one column; `details` are fields of `Fact`."""
        rows = np.flatnonzero(where)
        texts = self.texts[name].take(pa.array(rows)).to_pylist()
        values: list[Cell] = [None] * len(rows)
        if name in self.parsed:
            broken = take_rows({name: self.parsed[name]}, rows)[name]
            values = to_cells(broken, name in self.names(Role.DATETIME))
        return (name,), [
            Fact(kind=kind, columns=(name,), row=row, text=text, value=value, **details)
            for row, text, value in zip(rows.tolist(), texts, values, strict=True)
        ]
