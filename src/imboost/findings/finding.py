"""A finding about a table, and what the checks look at."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from imboost.arrays import Indices, Mask
from imboost.relations.relation import Relation
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
    """Something wrong with some rows of a table."""

    kind: str
    columns: tuple[str, ...]
    message: str  # one sentence
    rows: tuple[int, ...] = ()  # numbers of the rows, from 0
    values: tuple[str, ...] = ()  # what is wrong in each of these rows


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
            column.name: to_text(self.table.column(column.name))
            for column in self.schema
            if is_supported(self.table.column(column.name).type)
        }

    def names(self, *roles: Role) -> list[str]:
        """Return the columns that have one of these roles."""
        return [column.name for column in self.schema if column.role in roles]

    def cells(self, name: str, rows: Indices) -> tuple[str, ...]:
        """Return cells of a column as text, empty where they are missing."""
        texts = self.texts[name].take(pa.array(rows, pa.int64())).to_pylist()
        return tuple(text or "" for text in texts)

    def finding(self, kind: str, name: str, message: str, where: Mask) -> Finding:
        """Return a finding about some cells of one column."""
        rows = np.flatnonzero(where)
        return Finding(kind, (name,), message, tuple(rows.tolist()), self.cells(name, rows))


def quote(texts: Sequence[str], most: int = 3) -> str:
    """Return the first texts in quotation marks.

    >>> quote(["a", "b", "c", "d"])
    "'a', 'b', 'c' and 1 more"
    """
    shown = ", ".join(f"'{text}'" for text in texts[:most])
    return f"{shown} and {len(texts) - most} more" if len(texts) > most else shown
