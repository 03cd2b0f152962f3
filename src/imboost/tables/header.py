"""Notice tables without a line of column names."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from imboost.errors import DataError
from imboost.tables.cells import to_text

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
DATE = r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
MIN_SHARE = 0.9  # of the cells of a column that are numbers, or dates, for it to be one of them
N_CHECKED = 1000  # first rows that are compared with the header
N_SHOWN = 4  # cells of the first line in the message


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


def _is_sequence(numbers: list[float]) -> bool:
    """Whether numbers rise or fall; two numbers must be consecutive."""
    if len(numbers) == 2:
        return abs(numbers[1] - numbers[0]) == 1
    return len(numbers) > 2 and numbers in (sorted(numbers), sorted(numbers, reverse=True))


def _share(cells: pa.Array, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(cells, pattern).cast(pa.float64())).as_py())
