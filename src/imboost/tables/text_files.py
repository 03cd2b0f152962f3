"""CSV and JSON files; cells are read as text.

The delimiter and the header of CSV are detected. JSON is one object a line, or one array of
objects.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from imboost.errors import DataError, first_line
from imboost.tables.cells import decimal_text, text_reader
from imboost.tables.names import check_header, check_unique, default_names
from imboost.tables.read_options import ReadOptions

BLOCK_BYTES = 1 << 22  # bytes of a file that are read at a time; a batch holds their rows
DELIMITERS = (",", ";", "\t", "|")
DELIMITER_LINE = re.compile(r'"?sep=([\t !#-~])"?(?:[\r\n]+|$)', re.IGNORECASE)
"""A line before the header that names the delimiter, as Excel writes it."""

MIN_DELIMITERS = 10
"""Minimum number of delimiters in a quoted cell for its lines to be taken as rows of the table;
each line must also have as many delimiters as a row. An address may contain a few."""

csv.field_size_limit(BLOCK_BYTES)  # the default, 131,072, is less than a long header has


def open_csv(path: Path, options: ReadOptions, _: int) -> pa.RecordBatchReader:
    """Open a file; a batch holds the rows of `BLOCK_BYTES`.

    Raises
    ------
    DataError
        If a quote joins lines that do not belong to one cell, or if there is no header.
    """
    encoding = options.text_encoding
    names, delimiter, n_skipped = _read_first_line(path, encoding)
    if options.has_header is False:
        names = default_names(len(names))
    # Not left to Arrow, whose reader aborts the program if names are refused while it is open.
    check_unique(names, str(path))
    check_quotes = partial(_check_quotes, path, encoding, delimiter, len(names), n_skipped)
    try:
        reader = pa.csv.open_csv(
            path,
            read_options=pa.csv.ReadOptions(
                block_size=BLOCK_BYTES,
                skip_rows=n_skipped,
                column_names=names if options.has_header is False else None,
                encoding="utf8" if encoding == "utf-8-sig" else encoding,
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,  # in one column they are empty cells
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],  # the schema decides what else is a missing value
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:
        check_quotes()  # a stray quote may be the cause
        raise

    def batches() -> Iterator[pa.RecordBatch]:
        is_checked = _has_line_break(pa.array(names))
        if is_checked:
            check_quotes()
        try:
            with reader:
                for number, batch in enumerate(reader):
                    if not is_checked and any(map(_has_line_break, batch.columns)):
                        check_quotes()
                        is_checked = True
                    if number == 0 and options.has_header is None:
                        check_header(names, batch, str(path))
                    yield batch
        except pa.ArrowInvalid:
            check_quotes()
            raise

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def _read_first_line(path: Path, encoding: str) -> tuple[list[str], str, int]:
    """Return the cells of the first line, the delimiter and the number of lines before it."""
    with pa.input_stream(path) as stream:
        start = stream.read(BLOCK_BYTES)
    # Incrementally, because the block may end inside a character.
    text = codecs.getincrementaldecoder(encoding)().decode(start).removeprefix("\ufeff")
    header = text.lstrip("\r\n")
    named = DELIMITER_LINE.match(header)
    if named:
        header = header[named.end() :]
    if not header.strip():
        raise DataError(f"{path} is empty.")
    if len(start) == BLOCK_BYTES and not re.search(r"[\r\n]", header):
        raise DataError(f"{path}: the first line is longer than {BLOCK_BYTES >> 20} MiB.")
    n_skipped = len(text[: len(text) - len(header)].splitlines())
    try:
        headers = {
            delimiter: next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter))
            for delimiter in (named.groups() if named else DELIMITERS)
        }
    except csv.Error as error:  # a name is longer than the limit of a cell
        raise _stray_quote(path, n_skipped + 1) from error
    # A wrong delimiter may split inside quotes.
    delimiter = max(
        headers, key=lambda mark: ('"' not in "".join(headers[mark]), len(headers[mark]))
    )
    return headers[delimiter], delimiter, n_skipped


def _check_quotes(
    path: Path, encoding: str, delimiter: str, n_columns: int, n_skipped: int
) -> None:
    """Raise if a quote joins lines that do not belong to one cell.

    Such a quote is never closed, is closed in the middle of a cell, or encloses whole rows.
    """
    with (
        pa.input_stream(path) as stream,
        io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="") as lines,
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
                    raise _stray_quote(path, n_skipped + line) from error
                continue
            if row is None:
                return
            if any(_holds_rows(cell, delimiter, n_columns) for cell in row):
                raise _stray_quote(path, n_skipped + line)


def _holds_rows(cell: str, delimiter: str, n_columns: int) -> bool:
    r"""Whether the lines of a cell, except the first and the last, look like rows of the table.

    >>> _holds_rows("x\n1;2;3\n4;5;6\n7;8;9\n1;2;3\n4;5;6\ny", ";", 3)
    True
    >>> _holds_rows("x\n1;2;3\ny", ";", 3)
    False
    """
    counts = [line.count(delimiter) for line in re.split(r"\r\n|\r|\n", cell)[1:-1]]
    return sum(counts) >= MIN_DELIMITERS and set(counts) == {n_columns - 1}


def _stray_quote(path: Path, line: int) -> DataError:
    return DataError(
        f"{path}, line {line}: a quote opens a cell that swallows the following lines. Remove the "
        "quote, or quote the cell and double the quotes in it."
    )


def _has_line_break(cells: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(cells, r"[\r\n]")).as_py())


def open_json(path: Path, options: ReadOptions, n_rows: int) -> pa.RecordBatchReader:
    """Open a file of objects; its columns are all keys of the file.

    A key that an object lacks is a missing value; arrays and objects within an object are text.
    """
    names = list(dict.fromkeys(name for record in _records(path, options) for name in record))
    if not names:
        raise DataError(f"{path} is empty.")
    rows = ([_cell(record.get(name)) for name in names] for record in _records(path, options))
    return text_reader(names, rows, n_rows)


def _records(path: Path, options: ReadOptions) -> Iterator[dict[str, Any]]:
    """Yield every object of a file, with numbers as text."""
    with (
        pa.input_stream(path) as stream,
        io.TextIOWrapper(stream, encoding=options.text_encoding) as lines,
    ):
        written = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
        for at, (number, line) in enumerate(written):
            is_array = at == 0 and line.lstrip().startswith("[")
            place, text = f"line {number}", line
            if is_array:
                place, text = "the array", line + lines.read()
            try:
                value = json.loads(
                    text, parse_int=str, parse_float=decimal_text, parse_constant=str
                )
            except (ValueError, RecursionError) as error:
                raise DataError(f"{path}, {place} is not JSON: {first_line(error)}.") from error
            for position, record in enumerate(value if is_array else [value]):
                if not isinstance(record, dict):
                    place = f"object {position}" if is_array else place
                    raise DataError(
                        f"{path}, {place} must be an object with a value for each column."
                    )
                yield record


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
