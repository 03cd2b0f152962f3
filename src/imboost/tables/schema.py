"""The schema of a training table: role and fitted parser of every column, decided once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats
from imboost.errors import DataError, SettingError, UnknownNameError
from imboost.tables.cells import MISSING_STRINGS, is_supported, is_text, mask_missing, value_counts
from imboost.tables.names import check_columns
from imboost.tables.parsers import has_decimal_commas
from imboost.tables.roles import UNUSED, Parser, Role, TrainingColumn, infer_role

Cells = dict[str, pa.ChunkedArray]
"""Cells of the columns that are used for scoring, null where a cell is missing."""

ParsedColumns = dict[str, Any]
"""Parsed cells by column: floats (nan where missing) or strings in an Arrow array."""


@dataclass(frozen=True)
class ColumnSchema:
    """How a column of the training table is used."""

    name: str
    role: Role
    n_missing: int  # training cells without a value
    n_distinct: int  # distinct training values
    note: str = ""  # explains to users how the column is read and used
    n_unparsed: int = 0  # training cells that the parser cannot read; count as missing
    parser: Parser | None = None  # None if the column is not used for scoring


@dataclass(frozen=True)
class Schema:
    """The columns of a training table, in their order.

    Parameters
    ----------
    columns : tuple of ColumnSchema
    missing_values : tuple of str
        Text that stands for a missing value, besides empty cells.

    Examples
    --------
    >>> table = pa.table({"size": ["1,5", "2,25"], "colour": ["red", "blue"]})
    >>> schema = Schema.fit(table)
    >>> [(column.name, str(column.role)) for column in schema]
    [('size', 'numeric'), ('colour', 'categorical')]
    >>> schema.parse(table)["size"].tolist()
    [1.5, 2.25]
    """

    columns: tuple[ColumnSchema, ...]
    missing_values: tuple[str, ...] = MISSING_STRINGS

    def __iter__(self) -> Iterator[ColumnSchema]:
        return iter(self.columns)

    @classmethod
    def fit(cls, table: pa.Table, roles: Mapping[str, str] | None = None) -> Self:
        """Find the role and fit the parser of every column; `roles` sets the roles of some."""
        return cls.fit_parse(table, roles)[0]

    @classmethod
    def fit_parse(
        cls,
        table: pa.Table,
        roles: Mapping[str, str] | None = None,
        *,
        missing_values: Sequence[str] | None = None,
        needs_features: bool = True,
    ) -> tuple[Self, ParsedColumns]:
        """Fit, and return the parsed columns of the training table too.

        `missing_values` are the text that stands for a missing value, by default
        `MISSING_STRINGS`. Raises a DataError if no column can be used for scoring, unless not
        `needs_features`.
        """
        roles = roles or {}
        for name, role in roles.items():
            if name not in table.column_names:
                raise UnknownNameError("column", name, table.column_names)
            if role not in list(Role):
                raise UnknownNameError("role", role, list(Role))
        if table.num_rows == 0:
            raise DataError("The table has a header but no rows.")
        missing = MISSING_STRINGS if missing_values is None else tuple(missing_values)
        decimal_commas = any(
            has_decimal_commas(mask_missing(column, missing))
            for column in table.columns
            if is_text(column.type)
        )
        columns: list[ColumnSchema] = []
        parsed: ParsedColumns = {}
        for name, cells in zip(table.column_names, table.columns, strict=True):
            given = Role(roles[name]) if name in roles else None
            column, values = _fit_column(name, cells, given, missing, decimal_commas)
            columns.append(column)
            if values is not None:
                parsed[name] = values
        if not parsed and needs_features:
            found = ", ".join(f"{column.name} ({column.role})" for column in columns[:5])
            raise DataError(f"No column can be used for scoring: {found}. Set roles to change it.")
        return cls(tuple(columns), missing), parsed

    @property
    def parsers(self) -> dict[str, Parser]:
        """The parsers of the columns that are used for scoring."""
        return {column.name: column.parser for column in self if column.parser is not None}

    def parse(self, table: pa.Table) -> ParsedColumns:
        """Parse the columns that are used for scoring; the table may have them in any order."""
        self.check_columns(table)
        return self.parse_cells(self.cells(table))

    def check_columns(self, table: pa.Table) -> None:
        """Raise a DataError if columns are missing or extra; unused columns may be missing."""
        parsers, names = self.parsers, table.column_names
        unused = {column.name for column in self} - parsers.keys()
        expected = [*parsers, *(name for name in names if name in unused)]
        check_columns(names, expected, "The table", instead="fit again")
        for name in parsers:
            if not is_supported(kind := table.column(name).type):
                raise DataError(f"Column '{name}' holds {kind}, which cannot be scored.")

    def cells(self, table: pa.Table) -> Cells:
        """Return the cells of the columns used for scoring that the table has in a usable type."""
        present = set(table.column_names)
        return {
            name: mask_missing(table.column(name), self.missing_values)
            for name in self.parsers
            if name in present and is_supported(table.column(name).type)
        }

    def parse_cells(self, cells: Cells) -> ParsedColumns:
        """Parse what `cells` returned."""
        parsers = self.parsers
        return {name: parsers[name].parse(column) for name, column in cells.items()}


def n_missing_values(values: Floats | pa.ChunkedArray) -> int:
    """Return the number of parsed cells without a value."""
    return int(np.isnan(values).sum() if isinstance(values, np.ndarray) else values.null_count)


def _fit_column(
    name: str,
    column: pa.ChunkedArray,
    given: Role | None,
    missing: tuple[str, ...],
    decimal_commas: bool,
) -> tuple[ColumnSchema, Any]:
    """Return the schema of a column and, if it is used for scoring, its parsed cells."""
    if not is_supported(column.type):
        if given is not None and given.is_feature:
            raise SettingError(f"Column '{name}' holds {column.type}, which cannot be {given}.")
        note = f"cells of type {column.type}; {UNUSED}"
        return ColumnSchema(name, given or Role.IGNORED, column.null_count, 0, note), None
    cells = TrainingColumn(name, mask_missing(column, missing), decimal_commas=decimal_commas)
    role, note = infer_role(cells)
    if role == Role.NUMERIC and pa.types.is_dictionary(column.type):
        role = Role.CATEGORICAL  # a categorical dtype of pandas or polars
    if given is not None and given != role:
        role, note = given, "" if given.is_feature else UNUSED
    notes = [note, *_missing_notes(column, missing)]
    n_unparsed, parser, values = 0, None, None
    if role.is_feature:
        parser, values = cells.parse_as(role)
        n_unparsed, content = n_missing_values(values) - cells.n_missing, parser.content
        if n_unparsed == cells.n_present and role != Role.CATEGORICAL:
            raise SettingError(f"Column '{name}' cannot be {role}: no cell holds a {content}.")
        notes.append(parser.note)
        if n_unparsed:
            hold, count = ("cell holds", "counts") if n_unparsed == 1 else ("cells hold", "count")
            notes.append(f"{n_unparsed:,} {hold} no {content} and {count} as missing")
    note, counts = "; ".join(filter(None, notes)), (cells.n_missing, cells.n_distinct)
    return ColumnSchema(name, role, *counts, note, n_unparsed, parser), values


def _missing_notes(column: pa.ChunkedArray, missing: tuple[str, ...]) -> Iterator[str]:
    """Yield a note for each text that counts as a missing value."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if not is_text(column.type):
        return
    text = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    is_missing = pc.is_in(text, pa.array(missing, text.type))
    for value, n in Counter(value_counts(text.filter(is_missing))).most_common():
        number = "1 cell is" if n == 1 else f"{n:,} cells are"
        yield f"{number} '{value}', which counts as missing"
