"""Excel and OpenDocument sheets, read by python-calamine; cells are read as text."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from imboost.errors import DataError, MissingPackageError, UnknownNameError
from imboost.tables.column_names import check_unique
from imboost.tables.header import check_header, default_names
from imboost.tables.objects import text_table, to_cell
from imboost.tables.read_options import ReadOptions


def excel_batches(path: Path, options: ReadOptions, n_rows: int) -> Iterator[pa.Table]:
    """Read a sheet in batches of `n_rows`; the first batch has no rows."""
    if find_spec("python_calamine") is None:
        raise MissingPackageError("Reading Excel files", ["python-calamine"], extra="tables")
    rows = _read_rows(path, options.sheet)
    if not rows:
        raise DataError(f"{path} is empty.")
    if options.has_header is False:
        names = default_names(len(rows[0]))
    else:
        names = [to_cell(cell) or "" for cell in rows.pop(0)]
    check_unique(names, str(path))
    for start in range(0, max(len(rows), 1), n_rows):
        table = text_table(names, rows[start : start + n_rows])
        if start == 0:
            if options.has_header is None:
                check_header(names, table, str(path))
            yield table.slice(0, 0)
        yield table


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
