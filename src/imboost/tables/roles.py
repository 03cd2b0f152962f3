"""What each column of a table is for: found by its values, or said by the user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.errors import DataError, SettingError, UnknownNameError
from imboost.tables.cells import (
    MISSING_STRINGS,
    is_supported,
    is_text,
    mask_missing,
    parse_booleans,
    to_categories,
    to_text,
)
from imboost.tables.parsers import (
    CLEAR_SHARE,
    CategoryParser,
    DatetimeParser,
    NumberParser,
    Parser,
    has_decimal_commas,
    n_unread,
)

PLACEHOLDERS = ("-", "--", "?", ".", "n.a.", "<NA>", "NaT")
"""Where cells are numbers or times, these say that there is none."""

MOSTLY = 0.5
"""Where more cells than that are numbers, and more differ, the column is one of numbers."""

MANY_ROWS = 20
"""In a table of fewer rows, different values in all of them say nothing."""

MANY_CELLS = 50
NEARLY_ALL = 0.9
"""Of so many cells that say words, a larger share of different ones only tells rows apart."""

NAMES_OF_IDENTIFIERS = re.compile(
    r"(?i:(^|[_\W])(id|ids|key|uuid|guid|index|rowid|nr|no|num|number|nummer)$|^id[_\W]|^unnamed)"
    r"|[a-z](Id|ID|Key|Nr|No|Number)$"
)
NAMES_OF_OTHERS = re.compile(r"(?i:[_\W](id|key|uuid|guid)$|^id[_\W])|[a-z](Id|ID|Key)$")
"""Of numbers that repeat: who or what a row is about."""

LEADING_ZERO = r"^0\d+$"
KEPT_ASIDE = "kept aside, never looked at"
TEXT_WORDS = 4.0
"""Cells that differ and hold so many words on average are free text."""


class Role(StrEnum):
    """What a column is for."""

    NUMERIC = "numeric"
    CATEGORICAL = "categorical"
    BOOLEAN = "boolean"
    DATETIME = "datetime"
    IDENTIFIER = "identifier"
    CONSTANT = "constant"
    TEXT = "text"
    IGNORED = "ignored"

    @property
    def is_feature(self) -> bool:
        """Whether a detector looks at columns of this role."""
        return self in FEATURE_ROLES


FEATURE_ROLES = (Role.NUMERIC, Role.CATEGORICAL, Role.BOOLEAN, Role.DATETIME)


@dataclass(frozen=True)
class ColumnFacts:
    """A column's role, and what a user should know about how it is treated.

    Parameters
    ----------
    name : str
    role : Role
    n_missing : int
        Cells without a value.
    n_distinct : int
        Different values.
    note : str
        What is done with it, if that is not obvious.
    n_unread : int
        Cells with a value that says something else than the role wants, and counts as missing.
    """

    name: str
    role: Role
    n_missing: int
    n_distinct: int
    note: str = ""
    n_unread: int = 0


def find_roles(table: pa.Table, given: Mapping[str, str] | None = None) -> list[ColumnFacts]:
    """Return the role of every column; roles that are given stand as they are.

    Raises
    ------
    UnknownNameError
        If a role or a column is given that does not exist.
    DataError
        If the table has no rows, or no column is left to look at.
    """
    given = dict(given or {})
    for name in given:
        if name not in table.column_names:
            raise UnknownNameError("column", name, table.column_names)
    roles = {name: _role_called(role) for name, role in given.items()}
    if table.num_rows == 0:
        raise DataError("The table has a header but no rows.")
    decimal_commas = has_decimal_commas(table)
    facts = [
        _look_at(name, table.column(name), roles.get(name), decimal_commas)
        for name in table.column_names
    ]
    if not any(fact.role.is_feature for fact in facts):
        found = ", ".join(f"{fact.name} ({fact.role})" for fact in facts[:5])
        raise DataError(f"No column is left to look at: {found}. Say roles to change that.")
    return facts


def _role_called(name: str) -> Role:
    if name not in list(Role):
        raise UnknownNameError("role", name, list(Role))
    return Role(name)


def _look_at(
    name: str, column: pa.ChunkedArray, given: Role | None, decimal_commas: bool
) -> ColumnFacts:
    if not is_supported(column.type):
        if given is not None and given.is_feature:
            raise SettingError(f"Column '{name}' holds {column.type}, which cannot be {given}.")
        note = f"cells of type {column.type} are not looked at"
        return ColumnFacts(name, given or Role.IGNORED, column.null_count, 0, note)
    cells = mask_missing(column)
    n_missing = cells.null_count
    n_distinct = pc.count_distinct(cells).as_py()
    role, note = _find_role(name, cells, n_missing, n_distinct)
    if role == Role.NUMERIC and pa.types.is_dictionary(column.type):
        role = Role.CATEGORICAL  # numbers that a user has made categories
    if given is not None and given != role:
        role, note = given, "" if given.is_feature else "not looked at"
    note = "; ".join(text for text in (note, _note_on_words(column)) if text)
    parser = _parser_for(role, cells, decimal_commas)
    if parser is None:
        return ColumnFacts(name, role, n_missing, n_distinct, note)
    unread = n_unread(parser, cells)
    if n_missing + unread == len(cells):
        raise SettingError(f"Column '{name}' has no cell that says {parser.wanted}.")
    notes = (note, parser.note(cells), _note_on(unread, parser.unread))
    note = "; ".join(text for text in notes if text)
    return ColumnFacts(name, role, n_missing, n_distinct, note, unread)


def _parser_for(role: Role, cells: pa.ChunkedArray, decimal_commas: bool) -> Parser | None:
    """Return what reads the cells of a column, if the role wants more than words."""
    if role == Role.NUMERIC:
        return NumberParser.fit(cells, decimal_commas=decimal_commas)
    if role == Role.DATETIME:
        return DatetimeParser.fit(cells)
    return CategoryParser.fit(cells) if role == Role.BOOLEAN else None


def _find_role(
    name: str, cells: pa.ChunkedArray, n_missing: int, n_distinct: int
) -> tuple[Role, str]:
    if n_missing == len(cells):
        return Role.CONSTANT, "all cells are missing"
    if n_distinct == 1:
        if n_missing == 0:
            return Role.CONSTANT, "all cells are the same"
        return Role.CATEGORICAL, "one value, or missing"
    if pa.types.is_temporal(cells.type) and not pa.types.is_duration(cells.type):
        return Role.DATETIME, ""
    if _are_truths(cells, n_distinct):
        return Role.BOOLEAN, ""
    if _are_codes(cells):
        return _role_of_words(name, cells, n_missing, n_distinct)
    for role, kind in ((Role.NUMERIC, NumberParser), (Role.DATETIME, DatetimeParser)):
        if role == Role.DATETIME and not is_text(cells.type):
            break
        values = kind.fit(cells).parse(cells)
        if _share(values, _without_placeholders(cells)) >= CLEAR_SHARE:
            return _role_of_numbers(name, values) if role == Role.NUMERIC else (role, "")
    mostly_differ = n_distinct > MOSTLY * (len(cells) - n_missing)
    if mostly_differ and _share(NumberParser.fit(cells).parse(cells), cells) > MOSTLY:
        return Role.NUMERIC, ""
    return _role_of_words(name, cells, n_missing, n_distinct)


def _role_of_numbers(name: str, values: NDArray[np.float64]) -> tuple[Role, str]:
    """Return what numbers are for: whole ones may only tell rows, or things, apart."""
    known = values[~np.isnan(values)]
    if len(known) < MANY_ROWS or (known != np.floor(known)).any():
        return Role.NUMERIC, ""
    if len(np.unique(known)) == len(known):
        if np.ptp(known) < len(values):
            return Role.IDENTIFIER, f"counts the rows: {KEPT_ASIDE}"
        if NAMES_OF_IDENTIFIERS.search(name):
            return Role.IDENTIFIER, f"by its name: {KEPT_ASIDE}"
    elif NAMES_OF_OTHERS.search(name):
        return Role.CATEGORICAL, "by its name, numbers stand for things"
    return Role.NUMERIC, ""


def _role_of_words(
    name: str, cells: pa.ChunkedArray, n_missing: int, n_distinct: int
) -> tuple[Role, str]:
    said = to_text(cells)
    n_present = len(cells) - n_missing
    mean_words = 1 + pc.mean(pc.count_substring_regex(said, r"\s+")).as_py()
    differ = n_present >= MANY_ROWS and n_distinct > n_present / 2
    if differ and mean_words >= TEXT_WORDS:
        return Role.TEXT, "free text is not looked at"
    if n_present >= MANY_ROWS and n_distinct == n_present:
        return Role.IDENTIFIER, f"all cells differ: {KEPT_ASIDE}"
    if n_present >= MANY_CELLS and n_distinct > NEARLY_ALL * n_present:
        return Role.IDENTIFIER, f"{n_distinct / n_present:.0%} of the cells differ: {KEPT_ASIDE}"
    if differ and NAMES_OF_IDENTIFIERS.search(name):
        return Role.IDENTIFIER, f"by its name: {KEPT_ASIDE}"
    return Role.CATEGORICAL, ""


def _are_codes(cells: pa.ChunkedArray) -> bool:
    """Whether digits are no numbers: many begin with a zero that a number would not have."""
    if not is_text(cells.type):
        return False
    n_codes = pc.sum(pc.match_substring_regex(to_text(cells), LEADING_ZERO)).as_py() or 0
    return bool(n_codes > (1 - CLEAR_SHARE) * (len(cells) - cells.null_count))


def _without_placeholders(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    if not is_text(cells.type):
        return cells
    kept = pc.invert(pc.is_in(to_text(cells), pa.array(PLACEHOLDERS)))
    without = cells.filter(kept)
    return without if without.null_count < len(without) else cells


def _note_on_words(column: pa.ChunkedArray) -> str:
    """Return which words of a column are taken for missing values."""
    if not is_text(column.type):
        return ""
    said = pc.utf8_trim_whitespace(column)
    said = said.filter(
        pc.is_in(said, pa.array([word for word in MISSING_STRINGS if word], said.type))
    )
    counts = pc.value_counts(said).to_pylist()
    return "; ".join(
        f"{one['counts']:,} cell{'s say' if one['counts'] > 1 else ' says'} '{one['values']}', "
        "taken as missing"
        for one in sorted(counts, key=lambda one: -one["counts"])
    )


def _note_on(unread: int, what: str) -> str:
    if unread == 0:
        return ""
    if unread == 1:
        return f"1 cell says {what} and counts as missing"
    return f"{unread:,} cells say {what} and count as missing"


def _are_truths(cells: pa.ChunkedArray, n_distinct: int) -> bool:
    """Whether cells say yes and no, each in one way but for upper and lower case."""
    if n_distinct > MANY_ROWS or _share(parse_booleans(cells), cells) < 1:
        return False
    return bool(pc.count_distinct(pc.utf8_lower(to_categories(cells))).as_py() == 2)


def _share(values: NDArray[np.float64], cells: pa.ChunkedArray) -> float:
    """Return the share of the cells with a value that could be read."""
    return float(np.isfinite(values).sum() / (len(cells) - cells.null_count))
