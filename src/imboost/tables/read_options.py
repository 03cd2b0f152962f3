"""How a table is read, where the file does not say it itself; standard input as a file."""

from __future__ import annotations

import atexit
import codecs
import re
import shutil
import sys
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from imboost.errors import DataError, SettingError

STANDARD_STREAM = Path("-")  # stands for standard input, or for standard output

FIRST_BYTES = {
    rb"PAR1": ".parquet",
    rb"ARROW1": ".arrow",
    rb"SQLite format 3\x00": ".sqlite",
    rb"PK\x03\x04": ".xlsx",
    rb"(\xef\xbb\xbf)?\s*(\{|\[\s*[\]{])": ".jsonl",
}
"""Endings of file names by the first bytes of a file; other files are CSV."""

GZIP = b"\x1f\x8b"
N_BYTES = 1024  # that are compared with `FIRST_BYTES`


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading a table; each applies to some formats."""

    encoding: str | None = None  # of CSV and JSON files, such as "cp1252"; default UTF-8
    has_header: bool | None = (
        None  # of CSV files and sheets; default: a line like a row is refused
    )
    sheet: str | None = None  # of an Excel file; default: the first one
    sql: str | None = None  # table or query of a database; default: the only table

    def __post_init__(self) -> None:
        if self.encoding is None:
            return
        try:
            "".encode(self.encoding)  # also refuses codecs that do not decode to text
            codecs.getincrementaldecoder(self.encoding)
        except (LookupError, ValueError):
            raise SettingError(
                f"The encoding '{self.encoding}' is not known: use a name such as cp1252, "
                "iso-8859-15 or utf-16."
            ) from None

    @property
    def text_encoding(self) -> str:
        """The encoding in which text is decoded; a byte order mark is left out."""
        is_utf8 = codecs.lookup(self.encoding or "utf-8").name == "utf-8"
        return "utf-8-sig" if is_utf8 else str(self.encoding)

    @property
    def given(self) -> list[str]:
        """The names of the options that were given."""
        return [name for name, value in vars(self).items() if value is not None]


def save_standard_input() -> Path:
    """Copy standard input to a file that is removed when the program ends.

    Tables are read more than once. The name of the file has the ending of its format.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise DataError("Standard input is a terminal: pipe a table into the program.")
    folder = mkdtemp(prefix="imboost-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, "standard-input")
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with path.open("rb") as file:
        start = file.read(N_BYTES)
    is_compressed = start.startswith(GZIP)
    if is_compressed:
        with suppress(zlib.error):  # reading it will give the reason
            start = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(start)
    ending = next((end for first, end in FIRST_BYTES.items() if re.match(first, start)), ".csv")
    return path.rename(path.with_name(path.name + ending + ".gz" * is_compressed))
