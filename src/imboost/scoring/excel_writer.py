"""Excel files with a frozen header and marked cells, written row by row."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from imboost.errors import DataError, MissingPackageError
from imboost.tables.header import NUMBER
from imboost.tables.objects import to_cell

MAX_ROWS = 1_048_575  # below the header, a limit of Excel
MAX_COLUMNS = 16_384
MAX_CHARACTERS = 32_767  # of a cell
MAX_WHOLE = 2**53  # larger whole numbers would be rounded
FIRST_YEAR = 1900  # of Excel's dates
MARK_COLOUR = "#FFC7CE"  # the fill of Excel's own style "Bad"
MIN_WIDTH, MAX_WIDTH = 8, 40  # characters of a column


class ExcelWriter:
    """Writes tables to one sheet; text is never a formula.

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

    def __init__(
        self, path: Path, names: Sequence[str], numeric: frozenset[str], marking: str | None
    ) -> None:
        check_package()
        if len(names) > MAX_COLUMNS:
            raise DataError(
                f"An Excel file holds at most {MAX_COLUMNS:,} columns, the table has "
                f"{len(names):,}: write CSV or Parquet with --out."
            )
        import xlsxwriter

        self._names, self._numeric, self._marking = list(names), numeric, marking
        # In this mode rows go to disk at once and cannot be changed later.
        self._book = xlsxwriter.Workbook(path, {"constant_memory": True})
        self._sheet = self._book.add_worksheet("scores")
        self._formats = {
            (is_marked, pattern): self._book.add_format(
                ({"bg_color": MARK_COLOUR} if is_marked else {}) | {"num_format": pattern}
            )
            for is_marked in (False, True)
            for pattern in ("General", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss")
        }
        header = self._book.add_format({"bold": True, "bottom": 1})
        for at, name in enumerate(names):
            self._sheet.set_column(at, at, min(max(len(name) + 2, MIN_WIDTH), MAX_WIDTH))
            self._sheet.write_string(0, at, name[:MAX_CHARACTERS], header)
        self._sheet.freeze_panes(1, 0)
        self._n_rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._n_rows:
            self._sheet.autofilter(0, 0, self._n_rows, len(self._names) - 1)
        self._book.close()

    def write_table(self, table: pa.Table) -> None:
        """Write the rows of a table."""
        if self._n_rows + table.num_rows > MAX_ROWS:
            raise DataError(
                f"An Excel file holds at most {MAX_ROWS:,} rows: write CSV or Parquet with --out."
            )
        for row in table.to_pylist():
            self._n_rows += 1
            marked = row[self._marking] or () if self._marking else ()
            for at, name in enumerate(self._names):
                self._write_cell(at, row[name], name in marked, name in self._numeric)

    def _write_cell(self, at: int, value: Any, is_marked: bool, is_numeric: bool) -> None:
        sheet, row, plain = self._sheet, self._n_rows, self._formats[is_marked, "General"]
        if isinstance(value, list):
            value = "; ".join(map(str, value))
        elif isinstance(value, Decimal) or (
            is_numeric and isinstance(value, str) and re.match(NUMBER, value.strip())
        ):
            value = float(value)
        if value is None:
            sheet.write_blank(row, at, None, plain)
        elif isinstance(value, bool):
            sheet.write_boolean(row, at, value, plain)
        elif isinstance(value, int | float) and math.isfinite(value) and abs(value) < MAX_WHOLE:
            sheet.write_number(row, at, value, plain)
        elif isinstance(value, date) and value.year >= FIRST_YEAR:
            has_time = isinstance(value, datetime)
            pattern = "yyyy-mm-dd hh:mm:ss" if has_time else "yyyy-mm-dd"
            day = value.replace(tzinfo=None) if isinstance(value, datetime) else value
            sheet.write_datetime(row, at, day, self._formats[is_marked, pattern])
        else:
            sheet.write_string(row, at, (to_cell(value) or "")[:MAX_CHARACTERS], plain)


def check_package() -> None:
    """Raise if the package that writes Excel files is missing."""
    if find_spec("xlsxwriter") is None:
        raise MissingPackageError("Writing Excel files", ["xlsxwriter"], extra="tables")
