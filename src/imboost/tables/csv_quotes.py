"""A check for stray quotes in CSV files, which would join many lines into one cell."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pyarrow as pa

from imboost.errors import DataError

MIN_DELIMITERS = 10
"""Delimiters in whole lines of a quoted cell from which these are rows, not text of the cell.

Only lines that have as many delimiters as a row count; an address has a few of them by chance."""


def stray_quote(path: Path, line: int) -> DataError:
    """Return the error about a quote in a line of a file."""
    return DataError(
        f"{path}, line {line}: a quote opens a cell that swallows the following lines. Remove the "
        "quote, or quote the cell and double the quotes in it."
    )


def check_quotes(path: Path, delimiter: str, n_columns: int, n_skipped: int) -> None:
    """Raise if a quote in a CSV file joins lines that do not belong to one cell.

    Such a quote is never closed, is closed in the middle of a cell, or encloses whole rows.

    Parameters
    ----------
    path : Path
    delimiter : str
    n_columns : int
        Number of columns of the table.
    n_skipped : int
        Number of lines before the header.

    Raises
    ------
    DataError
        Naming the line in which the row with the quote begins.
    """
    with (
        pa.input_stream(path) as stream,
        io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="") as lines,
    ):
        for _ in range(n_skipped):
            next(lines)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                # A row on one line is complete, even if quotes in it are misplaced.
                if reader.line_num > line or "end of data" in str(error):
                    raise stray_quote(path, n_skipped + line) from error
                continue
            if row is None:
                return
            if any(_holds_rows(cell, delimiter, n_columns) for cell in row):
                raise stray_quote(path, n_skipped + line)


def _holds_rows(cell: str, delimiter: str, n_columns: int) -> bool:
    r"""Whether the lines of a cell, except the first and the last, look like rows of the table.

    >>> _holds_rows("x\n1;2;3\n4;5;6\n7;8;9\n1;2;3\n4;5;6\ny", ";", 3)
    True
    >>> _holds_rows("x\n1;2;3\ny", ";", 3)
    False
    """
    counts = [line.count(delimiter) for line in re.split(r"\r\n|\r|\n", cell)[1:-1]]
    return sum(counts) >= MIN_DELIMITERS and set(counts) == {n_columns - 1}
