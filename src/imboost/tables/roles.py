"""Infer the role of a column, such as numeric or free text; roles in files that people edit."""

from __future__ import annotations

import json
import re
import tomllib
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats
from imboost.errors import DataError, SettingError, UnknownNameError
from imboost.present.formatting import percent, printable
from imboost.tables.cells import as_text, is_text
from imboost.tables.datetime_parser import DatetimeParser
from imboost.tables.parsers import (
    CLEAR_MAJORITY,
    BooleanParser,
    CategoryParser,
    NumberParser,
    parse_booleans,
    to_categories,
)

if TYPE_CHECKING:
    from imboost.tables.schema import Schema

Parser = NumberParser | DatetimeParser | BooleanParser | CategoryParser

PLACEHOLDERS = ("-", "--", "?", ".", "n.a.", "<NA>", "NaT")  # for a missing number or time
MIN_ROWS = 20  # minimum number of cells before all-distinct values suggest an identifier
MIN_ROWS_NEARLY_UNIQUE = 50  # the same for text that is nearly all-distinct
NEARLY_UNIQUE = 0.9  # fraction of distinct text above which a column is nearly all-distinct
MAX_REPEATED = 0.01  # fraction of repeated numbers up to which they may be identifiers
MIN_CONSECUTIVE = 0.95  # fraction of rows whose number is the last one plus 1
RARE_SPELLING = 0.02  # fraction of the cells up to which a spelling of yes or no may be an error
MIN_WORDS_OF_TEXT = 4.0  # mean number of words from which cells that mostly differ are free text
IDENTIFIER_NAME = re.compile(
    r"(?i:(^|[_\W])(id|ids|key|uuid|guid|index|rowid|nr|no|num|number|nummer)$|^id[_\W]|^unnamed)"
    r"|[a-z](Id|ID|Key|Nr|No|Number)$"
)
# Names of columns in which integers that repeat are codes, such as "merchant_id".
FOREIGN_KEY_NAME = re.compile(r"(?i:[_\W](id|key|uuid|guid)$|^id[_\W])|[a-z](Id|ID|Key)$")
POSTAL_CODE_NAME = re.compile(
    r"(?i:(^|[_\W])(zips?|plz|fips|(zip|postal|post)[_\W]?codes?)([_\W]prefix)?$)"
    r"|[a-z](Zip|Postal|Post)([cC]ode)?$"
)
YEAR_NAME = re.compile(r"(?i:(^|[_\W])(year|yr|jahr|ano|año|annee|année)$)|[a-z](Year|Yr|YEAR)$")
# Names of columns whose integers are never identifiers.
COORDINATE_NAME = re.compile(r"(?i:(^|[_\W])(lat|lon|lng|long|latitude|longitude)$)")
YEARS = 1800, 2100  # range of integers that are years rather than numbers of rows
UNUSED = "not used for scoring"


class Role(StrEnum):
    """How a column is used."""

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
        """Whether columns with this role are used for scoring."""
        return self in (Role.NUMERIC, Role.CATEGORICAL, Role.BOOLEAN, Role.DATETIME)


class TrainingColumn:
    """A column of the training table; each parser is fitted to it at most once.

    `cells` are null where they are missing. `decimal_commas` tells whether commas are decimal
    marks in another column of the table.
    """

    def __init__(self, name: str, cells: pa.ChunkedArray, *, decimal_commas: bool) -> None:
        self.name = name
        self.cells = cells
        self.n_missing = self.cells.null_count
        self.n_present: int = len(self.cells) - self.n_missing
        self.n_distinct = int(pc.count_distinct(self.cells).as_py())
        self._decimal_commas = decimal_commas

    @cached_property
    def text(self) -> pa.ChunkedArray:
        """The cells as text."""
        return as_text(self.cells)

    @cached_property
    def numbers(self) -> tuple[NumberParser, Floats]:
        """Parser and values of the cells as numbers."""
        return NumberParser.fit_parse(self.cells, decimal_commas=self._decimal_commas)

    @cached_property
    def datetimes(self) -> tuple[DatetimeParser, Floats]:
        """Parser and values of the cells as dates and times."""
        return DatetimeParser.fit_parse(self.cells)

    def parse_as(self, role: Role) -> tuple[Parser, Any]:
        """Return the parser that a role needs and the parsed cells."""
        if role == Role.NUMERIC:
            return self.numbers
        if role == Role.DATETIME:
            return self.datetimes
        if role == Role.BOOLEAN:
            return BooleanParser.fit_parse(self.cells)
        return CategoryParser(), to_categories(self.cells)


def infer_role(column: TrainingColumn) -> tuple[Role, str]:
    """Return the role of a column and why it has that role, if that is not obvious."""
    if column.n_present == 0:
        return Role.CONSTANT, "all cells are missing"
    if column.n_distinct == 1 and column.n_missing == 0:
        return Role.CONSTANT, "all cells are the same"
    if column.n_distinct == 1:
        return Role.CATEGORICAL, "one value, or missing"
    kind = column.cells.type
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return Role.DATETIME, ""
    if _is_boolean(column):
        return Role.BOOLEAN, ""
    if _has_leading_zeros(column):
        return _role_of_text(column)
    n_numbers = int(np.isfinite(column.numbers[1]).sum())
    n_expected = CLEAR_MAJORITY * _n_without_placeholders(column)
    if n_numbers >= n_expected:
        return _role_of_numbers(column)
    if is_text(kind) and np.isfinite(column.datetimes[1]).sum() >= n_expected:
        return Role.DATETIME, ""
    if 2 * column.n_distinct > column.n_present and 2 * n_numbers > column.n_present:
        return Role.NUMERIC, ""
    return _role_of_text(column)


def read_roles(path: Path | str) -> dict[str, str]:
    """Return the roles by column in a TOML file, in its table ``[roles]``, or a JSON file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except FileNotFoundError:
        raise DataError(f"{path} does not exist.") from None
    except (OSError, ValueError) as error:  # decoding errors of both formats are ValueErrors
        reason = str(error).partition("\n")[0]
        raise DataError(f"The roles in {path} could not be read: {reason}.") from None
    roles = content.get("roles", content) if isinstance(content, dict) else content
    if not isinstance(roles, dict):
        raise DataError(f"{path} should hold a table of roles by column, such as zip = 'text'.")
    for name, role in roles.items():
        if not isinstance(role, str):
            raise SettingError(f"The role of '{name}' in {path} should be a word, got {role!r}.")
        if role not in list(Role):
            raise UnknownNameError("role", role, list(Role))
    return roles


def roles_as_toml(schema: Schema) -> str:
    r"""Return the roles of all columns as TOML, with their notes as comments.

    >>> from imboost.tables.schema import Schema
    >>> print(roles_as_toml(Schema.fit(pa.table({"size": [1.5, 2.5], "": ["a", "b"]}))))
    # The role of each column: numeric, categorical, boolean, datetime, identifier, constant, text
    or ignored.
    # Roles of columns that are left out are inferred.
    [roles]
    "size" = "numeric"
    "" = "categorical"
    """
    lines = [
        f"# The role of each column: {', '.join(list(Role)[:-1])} or {Role.IGNORED}.",
        "# Roles of columns that are left out are inferred.",
        "[roles]",
    ]
    for column in schema:
        note = f"  # {printable(column.note)}" if column.note else ""
        key = json.dumps(column.name, ensure_ascii=False).replace("\x7f", "\\u007f")
        lines.append(f'{key} = "{column.role}"{note}')
    return "\n".join(lines) + "\n"


def write_roles(path: Path | str, schema: Schema) -> None:
    """Write the roles of all columns to a TOML file."""
    Path(path).write_text(roles_as_toml(schema), encoding="utf-8")


def _role_of_numbers(column: TrainingColumn) -> tuple[Role, str]:
    """Distinguish quantities from row numbers and codes."""
    values = column.numbers[1]
    known = values[~np.isnan(values)]
    if len(known) < MIN_ROWS or (known != np.floor(known)).any():
        return Role.NUMERIC, ""
    if POSTAL_CODE_NAME.search(column.name) and np.median(known) >= 0:
        return Role.CATEGORICAL, "postal codes by its name"
    if YEAR_NAME.search(column.name) or COORDINATE_NAME.search(column.name):
        return Role.NUMERIC, ""
    n_distinct = len(np.unique(known))
    if _number_the_rows(known, n_distinct, len(values)):
        return Role.IDENTIFIER, f"numbers the rows; {UNUSED}"
    is_key = bool(FOREIGN_KEY_NAME.search(column.name) or column.name.lower() == "id")
    if IDENTIFIER_NAME.search(column.name) or is_key:
        n_repeated = len(known) - n_distinct
        is_nearly_unique = is_key and n_distinct > NEARLY_UNIQUE * len(known)
        if is_nearly_unique or n_repeated <= max(MAX_REPEATED * len(known), 1):
            return Role.IDENTIFIER, f"identifier by its name; {UNUSED}"
    if FOREIGN_KEY_NAME.search(column.name):
        return Role.CATEGORICAL, "codes by its name"
    return Role.NUMERIC, ""


def _number_the_rows(known: Floats, n_distinct: int, n_rows: int) -> bool:
    """Whether integers number the rows: all are distinct, or consecutive with few repeated."""
    if np.ptp(known) >= n_rows or (YEARS[0] <= known.min() and known.max() <= YEARS[1]):
        return False
    if n_distinct == len(known):
        return True
    n_repeated = len(known) - n_distinct
    is_next = np.diff(known) == 1
    return n_repeated <= max(MAX_REPEATED * len(known), 1) and is_next.mean() >= MIN_CONSECUTIVE


def _role_of_text(column: TrainingColumn) -> tuple[Role, str]:
    n_words = 1 + pc.mean(pc.count_substring_regex(column.text, r"\s+")).as_py()
    n_distinct, n_present = column.n_distinct, column.n_present
    mostly_differ = n_present >= MIN_ROWS and 2 * n_distinct > n_present
    if mostly_differ and n_words >= MIN_WORDS_OF_TEXT:
        return Role.TEXT, f"free text; {UNUSED}"
    if n_present >= MIN_ROWS and n_distinct == n_present:
        return Role.IDENTIFIER, f"all values differ; {UNUSED}"
    if POSTAL_CODE_NAME.search(column.name):
        return Role.CATEGORICAL, ""
    is_nearly_unique = n_distinct > NEARLY_UNIQUE * n_present
    has_one_repeated = n_present >= MIN_ROWS and n_distinct == n_present - 1
    if has_one_repeated or (n_present >= MIN_ROWS_NEARLY_UNIQUE and is_nearly_unique):
        return Role.IDENTIFIER, f"{percent(n_distinct / n_present)} distinct values; {UNUSED}"
    if mostly_differ and IDENTIFIER_NAME.search(column.name):
        return Role.IDENTIFIER, f"identifier by its name; {UNUSED}"
    return Role.CATEGORICAL, ""


def _is_boolean(column: TrainingColumn) -> bool:
    """Whether cells are yes or no, each with one spelling except for upper and lower case.

    Spellings that are rare may be errors, which a boolean column would hide.
    """
    if column.n_distinct > 20:  # far more than spellings of two values
        return False
    counted = pc.value_counts(column.cells.drop_null())
    distinct, counts = pa.chunked_array([counted.field(0)]), np.asarray(counted.field(1))
    if len(counts) > 2 and counts.min() < RARE_SPELLING * counts.sum():
        return False
    is_spelled_once = pc.count_distinct(pc.utf8_lower(to_categories(distinct))).as_py() == 2
    return is_spelled_once and not np.isnan(parse_booleans(distinct)).any()


def _has_leading_zeros(column: TrainingColumn) -> bool:
    """Whether digits are codes: many begin with a zero that a number would not have."""
    if not is_text(column.cells.type):
        return False
    n_codes = pc.sum(pc.match_substring_regex(column.text, r"^0\d+$")).as_py()
    return bool(n_codes > (1 - CLEAR_MAJORITY) * column.n_present)


def _n_without_placeholders(column: TrainingColumn) -> int:
    """Return the number of cells that are neither missing nor a placeholder, if there are any."""
    if not is_text(column.cells.type):
        return column.n_present
    n_placeholders = int(pc.sum(pc.is_in(column.text, pa.array(PLACEHOLDERS))).as_py())
    return column.n_present - n_placeholders or column.n_present
