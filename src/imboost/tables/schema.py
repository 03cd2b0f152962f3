"""The schema of a training table: role and fitted parser of every column, decided once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.errors import DataError, SettingError, UnknownNameError
from imboost.tables.cells import MISSING_STRINGS, is_supported, is_text
from imboost.tables.column_names import check_columns
from imboost.tables.number_parser import has_decimal_commas
from imboost.tables.roles import UNUSED, Parser, Role, TrainingColumn, infer_role

ParsedColumns = dict[str, Any]
"""Parsed cells by column: floats (nan where missing) or strings in an Arrow array."""


@dataclass(frozen=True)
class ColumnSchema:
    """How a column of the training table is used.

    Parameters
    ----------
    name : str
    role : Role
    n_missing : int
        Number of training cells without a value.
    n_distinct : int
        Number of distinct training values.
    note : str
        What a user should know about how the column is used.
    n_unparsed : int
        Number of training cells that have a value which does not fit the role; they count as
        missing.
    parser : Parser, optional
        Parses the cells of a column that is used for scoring.
    """

    name: str
    role: Role
    n_missing: int
    n_distinct: int
    note: str = ""
    n_unparsed: int = 0
    parser: Parser | None = None


@dataclass(frozen=True)
class Schema:
    """The columns of a training table, in their order.

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

    def __iter__(self) -> Iterator[ColumnSchema]:
        """Iterate over the columns."""
        return iter(self.columns)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.columns)

    @classmethod
    def fit(cls, table: pa.Table, roles: Mapping[str, str] | None = None) -> Self:
        """Find the role and fit the parser of every column.

        Parameters
        ----------
        table : Arrow table
        roles : dict of str to str, optional
            Roles of some columns; those of the others are inferred.

        Raises
        ------
        UnknownNameError
            If a role or a column does not exist.
        DataError
            If the table has no rows, or no column can be used for scoring.
        """
        return cls.fit_parse(table, roles)[0]

    @classmethod
    def fit_parse(
        cls, table: pa.Table, roles: Mapping[str, str] | None = None
    ) -> tuple[Self, ParsedColumns]:
        """Fit, and return the parsed columns of the training table too."""
        known_roles = {}
        for name, role in (roles or {}).items():
            if name not in table.column_names:
                raise UnknownNameError("column", name, table.column_names)
            if role not in list(Role):
                raise UnknownNameError("role", role, list(Role))
            known_roles[name] = Role(role)
        if table.num_rows == 0:
            raise DataError("The table has a header but no rows.")
        decimal_commas = any(has_decimal_commas(column) for column in table.columns)
        columns: list[ColumnSchema] = []
        parsed: ParsedColumns = {}
        for name, cells in zip(table.column_names, table.columns, strict=True):
            column, values = _fit_column(name, cells, known_roles.get(name), decimal_commas)
            columns.append(column)
            if values is not None:
                parsed[name] = values
        if not parsed:
            found = ", ".join(f"{column.name} ({column.role})" for column in columns[:5])
            raise DataError(f"No column can be used for scoring: {found}. Set roles to change it.")
        return cls(tuple(columns)), parsed

    @property
    def parsers(self) -> dict[str, Parser]:
        """The parsers of the columns that are used for scoring."""
        return {column.name: column.parser for column in self if column.parser is not None}

    def parse(self, table: pa.Table, where: str = "The table") -> ParsedColumns:
        """Parse the columns that are used for scoring; their order in the table is free.

        Raises
        ------
        DataError
            If columns are missing or extra. Columns that are not used may be missing.
        """
        parsers, names = self.parsers, table.column_names
        unused = {column.name for column in self} - parsers.keys()
        expected = [*parsers, *(name for name in names if name in unused)]
        check_columns(names, expected, where, instead="fit again")
        return {name: parser.parse(table.column(name)) for name, parser in parsers.items()}


def n_missing_values(values: NDArray[np.float64] | pa.ChunkedArray) -> int:
    """Return the number of parsed cells without a value."""
    return int(np.isnan(values).sum() if isinstance(values, np.ndarray) else values.null_count)


def _fit_column(
    name: str, column: pa.ChunkedArray, given: Role | None, decimal_commas: bool
) -> tuple[ColumnSchema, Any]:
    """Return the schema of a column and, if it is used for scoring, its parsed cells."""
    if not is_supported(column.type):
        if given is not None and given.is_feature:
            raise SettingError(f"Column '{name}' holds {column.type}, which cannot be {given}.")
        note = f"cells of type {column.type}; {UNUSED}"
        return ColumnSchema(name, given or Role.IGNORED, column.null_count, 0, note), None
    cells = TrainingColumn(name, column, decimal_commas=decimal_commas)
    role, note = infer_role(cells)
    if role == Role.NUMERIC and pa.types.is_dictionary(column.type):
        role = Role.CATEGORICAL  # a categorical dtype of pandas or polars
    if given is not None and given != role:
        role, note = given, "" if given.is_feature else UNUSED
    notes = [note, *_missing_notes(column)]
    counts = cells.n_missing, cells.n_distinct
    if not role.is_feature:
        return ColumnSchema(name, role, *counts, _join(notes)), None
    parser, values = cells.parse_as(role)
    n_unparsed = n_missing_values(values) - cells.n_missing
    if n_unparsed == cells.n_present and role != Role.CATEGORICAL:
        raise SettingError(f"Column '{name}' cannot be {role}: no cell holds a {parser.content}.")
    notes.append(parser.note)
    if n_unparsed == 1:
        notes.append(f"1 cell holds no {parser.content} and counts as missing")
    elif n_unparsed:
        notes.append(f"{n_unparsed:,} cells hold no {parser.content} and count as missing")
    return ColumnSchema(name, role, *counts, _join(notes), n_unparsed, parser), values


def _missing_notes(column: pa.ChunkedArray) -> Iterator[str]:
    """Yield a note for each text that counts as a missing value."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if not is_text(column.type):
        return
    text = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    strings = pa.array([string for string in MISSING_STRINGS if string], text.type)
    counts = pc.value_counts(text.filter(pc.is_in(text, strings))).to_pylist()
    for one in sorted(counts, key=lambda one: -one["counts"]):
        number = "1 cell is" if one["counts"] == 1 else f"{one['counts']:,} cells are"
        yield f"{number} '{one['values']}', which counts as missing"


def _join(notes: list[str]) -> str:
    return "; ".join(note for note in notes if note)
