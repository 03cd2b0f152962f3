"""CSV files: delimiter and header are detected, cells are read as text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from imboost.errors import DataError
from imboost.tables.column_names import check_unique
from imboost.tables.csv_quotes import check_quotes, stray_quote

BLOCK_BYTES = 1 << 22
"""Size of the blocks in which a file is read, in bytes; a batch holds the rows of one block."""

DELIMITERS = (",", ";", "\t", "|")
DELIMITER_LINE = re.compile(r'"?sep=([\t !#-~])"?(?:[\r\n]+|$)', re.IGNORECASE)
"""A line before the header that names the delimiter, as Excel writes it."""


@dataclass(frozen=True)
class CsvFormat:
    """Column names, delimiter and number of lines before the header."""

    names: list[str]
    delimiter: str
    n_skipped: int

    @classmethod
    def detect(cls, path: Path) -> Self:
        """Read the header of a file with the delimiter that fits it best."""
        with pa.input_stream(path) as stream:
            start = stream.read(BLOCK_BYTES)
        # Incrementally, because the block may end inside a character.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
        header = text.lstrip("\r\n")
        named = DELIMITER_LINE.match(header)
        if named:
            header = header[named.end() :]
        if not header.strip():
            raise DataError(f"{path} is empty.")
        n_skipped = len(text[: len(text) - len(header)].splitlines())
        # Not by Arrow: its reader aborts the program if names are refused before it is done.
        try:
            headers = {
                delimiter: next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter))
                for delimiter in (named.groups() if named else DELIMITERS)
            }
        except csv.Error as error:  # a name longer than any cell may be
            raise stray_quote(path, n_skipped + 1) from error
        # A wrong delimiter may split inside quotes.
        delimiter = max(
            headers, key=lambda mark: ('"' not in "".join(headers[mark]), len(headers[mark]))
        )
        check_unique(headers[delimiter], str(path))
        return cls(headers[delimiter], delimiter, n_skipped)


def csv_batches(path: Path) -> Iterator[pa.Table]:
    """Read a file batch by batch; the first batch has no rows.

    Raises
    ------
    DataError
        If a quote joins lines that do not belong to one cell.
    """
    found = CsvFormat.detect(path)
    names, delimiter, n_skipped = found.names, found.delimiter, found.n_skipped
    is_checked = _has_line_break(pa.array(names))
    if is_checked:
        check_quotes(path, delimiter, len(names), n_skipped)
    try:
        with pa.csv.open_csv(
            path,
            read_options=pa.csv.ReadOptions(block_size=BLOCK_BYTES, skip_rows=n_skipped),
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
        ) as reader:
            yield reader.schema.empty_table()
            for batch in reader:
                if not is_checked and any(map(_has_line_break, batch.columns)):
                    check_quotes(path, delimiter, len(names), n_skipped)
                    is_checked = True
                yield pa.Table.from_batches([batch])
    except pa.ArrowInvalid:
        check_quotes(path, delimiter, len(names), n_skipped)  # may be why
        raise


def _has_line_break(cells: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(cells, r"[\r\n]")).as_py())
