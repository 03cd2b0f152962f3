"""What all relations between columns have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Indices, Mask
from imboost.facts import BrokenRule, Cell, RuleKind
from imboost.tables.cells import is_supported, mask_missing
from imboost.tables.parsers import to_categories
from imboost.tables.schema import ParsedColumns, Schema

FIRST_DATE, LAST_DATE = -6.3e10, 2.54e11  # seconds since 1970, of the years 0001 and 9999
SEPARATOR = "\x1f"  # between the values of two deciding columns

Parsed = Mapping[str, Any]
"""Parsed cells by column: floats (nan where missing) or strings in an Arrow array."""


@dataclass(frozen=True, kw_only=True)
class Relation(ABC):
    """A rule that the cells of nearly all rows obey; the first column is its target.

    A rule holds in rows in which one of its cells is missing.
    """

    columns: tuple[str, ...]
    support: float = 0.0  # share of the training rows with all cells known in which it holds
    unit: float = 0.0  # to which the target is rounded, 0 if it is not
    times: tuple[str, ...] = ()  # the columns that hold times, in seconds since 1970

    kind: ClassVar[RuleKind]

    @property
    def target(self) -> str:
        """The column whose value the rule predicts."""
        return self.columns[0]

    @abstractmethod
    def expected(self, parsed: Parsed) -> Any:
        """Return the target's value by the rule, nan or null where it is unknown."""

    @abstractmethod
    def holds(self, parsed: Parsed) -> Mask:
        """Return in which rows the rule holds."""

    def blame(self, parsed: Parsed) -> Indices:
        """Return for each row the index in `columns` of the cell that is most likely wrong."""
        return np.zeros(n_rows(parsed), dtype=np.int64)

    def violations(self, parsed: Parsed) -> dict[int, BrokenRule]:
        """Return how rows break the rule, by row."""
        rows = np.flatnonzero(~self.holds(parsed))
        if not len(rows):
            return {}
        broken = take_rows({name: parsed[name] for name in self.columns}, rows)
        cells = [to_cells(broken[name], name in self.times) for name in self.columns]
        expected = to_cells(self.expected(broken), self.target in self.times)
        return {
            row: BrokenRule(
                kind=self.kind,
                columns=self.columns,
                column=self.columns[at],
                cells=found,
                expected=value,
                formula=self.formula(),
                unit=self.unit,
            )
            for row, at, found, value in zip(
                rows.tolist(), self.blame(broken), zip(*cells, strict=True), expected, strict=True
            )
        }

    def formula(self) -> str:
        """Return how the target is computed, or the pattern that it has."""
        return ""


@dataclass(frozen=True, kw_only=True)
class LookupRelation(Relation):
    """The target's value for some values of the other columns, or of the target if it is alone."""

    keys: tuple[str, ...]  # values of the deciding columns, joined by `SEPARATOR`
    values: tuple[str, ...]  # of the target, one for each key

    def holds(self, parsed: Parsed) -> Mask:
        """Return in which rows the target has its value by the rule."""
        is_expected = pc.equal(as_text(parsed[self.target]), self.expected(parsed))
        return np.asarray(pc.fill_null(is_expected, True))

    def expected(self, parsed: Parsed) -> Any:
        """Return the target's text by the rule, null where the rule does not know it."""
        texts = (as_text(parsed[name]) for name in self.columns[1:] or self.columns)
        keys, values = self._arrays
        index = pc.index_in(pc.binary_join_element_wise(*texts, SEPARATOR), keys)
        return pa.chunked_array([values.take(index.combine_chunks())])

    @cached_property
    def _arrays(self) -> tuple[pa.Array, pa.Array]:
        return pa.array(self.keys, pa.string()), pa.array(self.values, pa.string())


def as_text(values: Any) -> pa.ChunkedArray:
    """Return parsed cells as text, null where they are missing.

    >>> as_text(np.array([1.0, np.nan])).to_pylist()
    ['1', None]
    """
    if isinstance(values, np.ndarray):
        return to_categories(pa.chunked_array([pa.array(values, from_pandas=True)]))
    return values


def to_cells(values: Any, is_time: bool = False) -> list[Cell]:
    """Return parsed cells as numbers, strings or datetimes; None where they are missing.

    >>> to_cells(np.array([1.5, np.nan])), to_cells(np.array([86400.0]), is_time=True)
    ([1.5, None], [np.datetime64('1970-01-02T00:00:00')])
    """
    if not isinstance(values, np.ndarray):
        return list(values.to_pylist())
    if not is_time:
        return [value if np.isfinite(value) else None for value in values.tolist()]
    is_date = (values >= FIRST_DATE) & (values < LAST_DATE)
    moments = np.where(is_date, np.floor(values), 0).astype("datetime64[s]")
    return [moment if known else None for moment, known in zip(moments, is_date, strict=True)]


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
        column.name: to_categories(mask_missing(table.column(column.name), schema.missing_values))
        for column in schema
        if column.parser is None
        and column.role in ("identifier", "text")
        and column.name in table.column_names
        and is_supported(table.column(column.name).type)
    }
    return {**parsed, **unused}
