"""Excel and OpenDocument sheets, read by python-calamine; cells are read as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from imboost.errors import DataError, UnknownNameError, require
from imboost.tables.header import N_CHECKED, check_header, default_names
from imboost.tables.objects import text_reader, to_cell
from imboost.tables.read_options import ReadOptions


def open_excel(path: Path, options: ReadOptions, n_rows: int) -> pa.RecordBatchReader:
    """Open a sheet."""
    require("Reading Excel files", "tables", "python_calamine")
    rows = _read_rows(path, options.sheet)
    if not rows:
        raise DataError(f"{path} is empty.")
    if options.has_header is False:
        return text_reader(default_names(len(rows[0])), rows, n_rows)
    names = [to_cell(cell) or "" for cell in rows.pop(0)]
    if options.has_header is None and rows:
        first = text_reader(names, rows[:N_CHECKED], N_CHECKED).read_next_batch()
        check_header(names, first, str(path))
    return text_reader(names, rows, n_rows)


def _read_rows(path: Path, sheet: str | None) -> list[list[Any]]:
    """Return the rows of a sheet that hold anything; empty cells are None."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with CalamineWorkbook.from_path(path) as workbook:
            if sheet is not None and sheet not in workbook.sheet_names:
                raise UnknownNameError("sheet", sheet, workbook.sheet_names)
            name = workbook.sheet_names[0] if sheet is None else sheet
            cells = workbook.get_sheet_by_name(name).to_python(skip_empty_area=True)
    except (CalamineError, IndexError) as error:
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} could not be read: {text}") from error
    rows = [[None if cell == "" else cell for cell in row] for row in cells]
    return [row for row in rows if any(cell is not None for cell in row)]
