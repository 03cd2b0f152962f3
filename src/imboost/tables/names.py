"""Names of columns and rows; tables without a line of column names are noticed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.errors import DataError
from imboost.facts import WHOLE_ROW
from imboost.tables.cells import to_text

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
DATE = r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
MIN_SHARE = 0.9  # of the cells of a column that are numbers, or dates, for it to be one of them
N_CHECKED = 1000  # first rows that are compared with the header
N_SHOWN = 4  # cells of the first line in the message
UNNAMED = "identifier"  # shown for a column without a name, such as the index pandas writes
NUMBERED = re.compile(r"row (\d[\d,]*)", re.IGNORECASE)


def check_columns(
    names: list[str], expected: list[str], where: str, instead: str | None = None
) -> None:
    """Raise, naming the columns, unless `names` are the expected ones in any order.

    The message begins with `where`, such as a file name, and ends with `instead`: what to do if
    the names cannot be changed.
    """
    present, wanted = set(names), set(expected)
    missing = [name for name in expected if name not in present]
    extra = [name for name in names if name not in wanted]
    if not (missing or extra):
        return
    problems = [
        f"{kind} column{'s' * (len(found) > 1)} {_listed(found)}"
        for kind, found in (("lacks the", missing), ("has the extra", extra))
        if found
    ]
    pronoun = "it" if len(missing) <= 1 and len(extra) <= 1 else "them"
    advice = "rename {}" if missing and extra else "add {}" if missing else "leave {} out"
    rest = f", or {instead}" if instead else ""
    raise DataError(f"{where} {' and '.join(problems)}: {advice.format(pronoun)}{rest}.")


def check_unique(names: list[str], where: str) -> None:
    """Raise, naming them, if columns share a name, or one has that of the whole row."""
    if WHOLE_ROW in names:
        raise DataError(
            f"{where} has a column called '{WHOLE_ROW}', which stands for whole rows in reasons: "
            "rename it."
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{where} has several columns called {_listed(twice)}; rename them.")


def default_names(n_columns: int) -> list[str]:
    """Return the names of columns in a table without a header.

    >>> default_names(2)
    ['column 1', 'column 2']
    """
    return [f"column {number}" for number in range(1, n_columns + 1)]


def check_header(names: Sequence[str], rows: pa.RecordBatch, where: str) -> None:
    """Raise if the first line looks like a row: numbers or dates above numbers or dates."""
    if looks_like_a_row(names, rows):
        shown = ", ".join(name for name in names[:N_SHOWN] if name)
        raise DataError(
            f"{where} seems to have no header: its first line holds {shown}, like the lines "
            "below. Add a line with column names, or give `has_header=False`; `has_header=True` "
            "if these are the names."
        )


def looks_like_a_row(names: Sequence[str], rows: pa.RecordBatch) -> bool:
    """Whether the names are a row of the table.

    Every column of numbers or dates must have a number or a date as its name. Names in ascending
    or descending order, such as years or wavelengths, are taken as names.

    >>> rows = pa.record_batch([["3.5", "1.5"], ["blue", "red"]], names="ab")
    >>> looks_like_a_row(["4.5", "red"], rows)
    True
    >>> looks_like_a_row(["2019", "2020"], pa.record_batch([["3", "1"], ["5", "2"]], names="ab"))
    False
    """
    matching: list[tuple[str, str]] = []  # pattern and name
    for name, column in zip(names, rows.slice(0, N_CHECKED).columns, strict=True):
        cells = to_text(column).drop_null()
        for pattern in (NUMBER, DATE):
            if len(cells) and _share(cells, pattern) >= MIN_SHARE:
                if name.strip() and not re.search(pattern, name.strip()):
                    return False  # a word above numbers
                matching += [(pattern, name)] * bool(name.strip())
    numbers = [float(name) for pattern, name in matching if pattern == NUMBER]
    return bool(matching) and not (_is_sequence(numbers) and len(numbers) == len(matching))


def row_name(number: int, identifier: str | None, value: str | None) -> str:
    """Return the name of a row, which `parse_row_name` reads.

    >>> row_name(17, "order_id", "A0000017"), row_name(17, "order_id", None)
    ('order_id A0000017', 'row 17')
    """
    if identifier is None or value is None:
        return f"row {number}"
    return f"{identifier or UNNAMED} {value}"


def parse_row_name(text: str, identifier: str | None) -> int | str:
    """Return the number of a row, counted from 0, or its identifier.

    >>> parse_row_name("order_id A17", "order_id"), parse_row_name("17", "order_id")
    ('A17', '17')
    >>> parse_row_name("row 17", "order_id"), parse_row_name("17", None)
    (17, 17)
    """
    text = text.strip()
    if numbered := NUMBERED.fullmatch(text):
        return int(numbered[1].replace(",", ""))
    if identifier is not None:
        return text.removeprefix(f"{identifier or UNNAMED} ")
    if not text.isdecimal():
        raise DataError(
            f"The table has no identifier column: give a row number, counted from 0; got '{text}'."
        )
    return int(text)


def name_rows(table: pa.Table, identifier: str | None, rows: Sequence[int]) -> dict[int, str]:
    """Return the names of rows of a whole table; a repeated identifier names none of them.

    >>> name_rows(pa.table({"id": ["a", "b", "b"]}), "id", [0, 2])
    {0: 'id a', 2: 'row 2'}
    """
    if identifier is None:
        return {row: row_name(row, None, None) for row in rows}
    texts = to_text(table.column(identifier))
    counted = pc.value_counts(texts)
    repeated = counted.filter(pc.greater(counted.field("counts"), 1)).field("values")
    taken = texts.take(pa.array(np.asarray(rows, dtype=np.int64)))
    names = pc.if_else(pc.is_in(taken, value_set=repeated), None, taken).to_pylist()
    return {row: row_name(row, identifier, name) for row, name in zip(rows, names, strict=True)}


def _is_sequence(numbers: list[float]) -> bool:
    """Whether numbers rise or fall; two numbers must be consecutive."""
    if len(numbers) == 2:
        return abs(numbers[1] - numbers[0]) == 1
    return len(numbers) > 2 and numbers in (sorted(numbers), sorted(numbers, reverse=True))


def _share(cells: pa.Array, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(cells, pattern).cast(pa.float64())).as_py())


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
