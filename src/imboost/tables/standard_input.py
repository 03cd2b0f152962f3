"""Standard input as a file, in the format that its first bytes show."""

from __future__ import annotations

import atexit
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp

from imboost.errors import DataError

STANDARD_STREAM = Path("-")  # stands for standard input, or for standard output

FIRST_BYTES = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"SQLite format 3\0": ".sqlite",
    b"PK\3\4": ".xlsx",
    b"\x1f\x8b": ".csv.gz",
    b"{": ".jsonl",
}
"""Endings of file names by the first bytes of a file; other files are CSV."""


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
        start = file.read(16)
    ending = next((end for first, end in FIRST_BYTES.items() if start.startswith(first)), ".csv")
    return path.rename(path.with_name(path.name + ending))
