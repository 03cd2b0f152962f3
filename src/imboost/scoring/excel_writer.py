"""Excel files with a frozen header and marked cells, written row by row."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from imboost.errors import DataError, require
from imboost.tables.cells import to_cell
from imboost.tables.names import NUMBER

MAX_ROWS = 1_048_575  # below the header, a limit of Excel
MAX_COLUMNS = 16_384
MAX_CHARACTERS = 32_767  # of a cell
MAX_WHOLE = 2**53  # larger whole numbers would be rounded
FIRST_YEAR = 1900  # of Excel's dates
MARK_COLOUR = "#FFC7CE"  # the fill of Excel's own style "Bad"
MIN_WIDTH, MAX_WIDTH = 8, 40  # characters of a column

OPTIONS = {
    "constant_memory": True,  # rows go to disk at once and cannot be changed later
    "remove_timezone": True,
}
PATTERNS = {datetime: "yyyy-mm-dd hh:mm:ss", date: "yyyy-mm-dd"}  # a datetime is a date too


@contextmanager
def open_sheet(
    path: Path, names: Sequence[str], numeric: frozenset[str], marking: str | None
) -> Iterator[SheetWriter]:
    """Open a file with one sheet; text is never a formula.

    Parameters
    ----------
    path : Path
    names : sequence of str
        The columns.
    numeric : frozenset of str
        Columns whose text is written as numbers where it is one.
    marking : str, optional
        Column with lists of column names: those cells of the row are filled.
    """
    check_package()
    if len(names) > MAX_COLUMNS:
        raise DataError(
            f"An Excel file holds at most {MAX_COLUMNS:,} columns, the table has "
            f"{len(names):,}: write CSV or Parquet."
        )
    import xlsxwriter

    with xlsxwriter.Workbook(path, OPTIONS) as book:
        sheet = book.add_worksheet("scores")
        header = book.add_format({"bold": True, "bottom": 1})
        for at, name in enumerate(names):
            sheet.set_column(at, at, min(max(len(name) + 2, MIN_WIDTH), MAX_WIDTH))
            sheet.write_string(0, at, name[:MAX_CHARACTERS], header)
        sheet.freeze_panes(1, 0)
        writer = SheetWriter(book, sheet, names, numeric, marking)
        yield writer
        if writer.n_rows:
            sheet.autofilter(0, 0, writer.n_rows, len(names) - 1)


class SheetWriter:
    """Writes tables below each other; see `open_sheet`."""

    def __init__(
        self, book: Any, sheet: Any, names: Sequence[str], numeric: frozenset[str], marking: Any
    ) -> None:
        self.n_rows = 0
        self._sheet, self._names, self._numeric, self._marking = sheet, names, numeric, marking
        self._formats = {
            (is_marked, kind): book.add_format(
                ({"bg_color": MARK_COLOUR} if is_marked else {})
                | {"num_format": PATTERNS[kind] if kind else "General"}
            )
            for is_marked in (False, True)
            for kind in (None, *PATTERNS)
        }

    def write_table(self, table: pa.Table) -> None:
        """Write the rows of a table."""
        if self.n_rows + table.num_rows > MAX_ROWS:
            raise DataError(
                f"An Excel file holds at most {MAX_ROWS:,} rows: write CSV or Parquet."
            )
        for row in table.to_pylist():
            self.n_rows += 1
            marked = row[self._marking] or () if self._marking else ()
            for at, name in enumerate(self._names):
                value = _to_excel(row[name], name in self._numeric)
                kind = next((kind for kind in PATTERNS if isinstance(value, kind)), None)
                # `write` would take some text for formulas, whatever its options.
                write = self._sheet.write_string if isinstance(value, str) else self._sheet.write
                write(self.n_rows, at, value, self._formats[name in marked, kind])


def _to_excel(value: Any, is_numeric: bool) -> Any:
    """Return a value as Excel can hold it: text unless it is a number, a boolean or a date."""
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    elif isinstance(value, Decimal) or (
        is_numeric and isinstance(value, str) and re.match(NUMBER, value.strip())
    ):
        value = float(value)
    is_number = isinstance(value, int | float) and math.isfinite(value) and abs(value) < MAX_WHOLE
    is_date = isinstance(value, date) and value.year >= FIRST_YEAR
    if value is None or is_number or is_date:
        return value
    return (to_cell(value) or "")[:MAX_CHARACTERS]


def check_package() -> None:
    """Raise if the package that writes Excel files is missing."""
    require("Writing Excel files", "tables", "xlsxwriter")
