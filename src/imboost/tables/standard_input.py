"""Standard input as a file, in the format that its first bytes show."""

from __future__ import annotations

import atexit
import re
import shutil
import sys
import zlib
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from imboost.errors import DataError

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
