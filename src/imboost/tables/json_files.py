"""JSON files: one object a line, or one array of objects; cells are read as text."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from imboost.errors import DataError
from imboost.tables.objects import text_reader
from imboost.tables.read_options import ReadOptions

Record = dict[str, Any]


def open_json(path: Path, options: ReadOptions, n_rows: int) -> pa.RecordBatchReader:
    """Open a file of objects; its columns are all keys of the file.

    A key that an object lacks is a missing value; arrays and objects within an object are text.
    """
    names = list(dict.fromkeys(name for record in _records(path, options) for name in record))
    if not names:
        raise DataError(f"{path} is empty.")
    rows = ([_cell(record.get(name)) for name in names] for record in _records(path, options))
    return text_reader(names, rows, n_rows)


def _records(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield every object of a file, with numbers as they are written."""
    with (
        pa.input_stream(path) as stream,
        io.TextIOWrapper(stream, encoding=options.text_encoding) as lines,
    ):
        written = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
        for at, (number, line) in enumerate(written):
            if at == 0 and line.lstrip().startswith("["):
                for at, value in enumerate(_parse(path, "the array", line + lines.read())):
                    yield _record(path, f"object {at}", value)
                return
            yield _record(path, f"line {number}", _parse(path, f"line {number}", line))


def _parse(path: Path, place: str, text: str) -> Any:
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path}, {place} is not JSON: {reason}.") from error


def _record(path: Path, place: str, value: Any) -> Record:
    if not isinstance(value, dict):
        raise DataError(f"{path}, {place} must be an object with a value for each column.")
    return value


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
