"""A result file: one line per run and round, appended when a run ends."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Generic, TypeVar

from imboost.errors import ResultsError
from imboost_bench.run.protocol import RunLine, RunSpec

Line = TypeVar("Line", bound=RunLine)

LATER_COLUMNS = frozenset({"outlier_share", "split"})
"""Columns that files of earlier versions lack; their runs had the default values."""

_PARSERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": lambda text: text == "True",
}


class ResultFile(Generic[Line]):
    """Results in a CSV file that survives an interrupted writer.

    The lines of a run are written together and reach the disk before the next run's. A line
    cut short by a crash is dropped when the file is opened again, and its run repeated. A file
    of an earlier version can be read; `repair` adds the columns that it lacks.

    Parameters
    ----------
    path : Path
    line_type : type
        The dataclass of the lines; its fields are the columns.
    """

    def __init__(self, path: Path, line_type: type[Line]) -> None:
        self.path = path
        self.line_type = line_type
        # Keyword-only fields describe how the run ended and are the last columns.
        ordered = sorted(fields(line_type), key=lambda field: bool(field.kw_only))
        self._parsers = {field.name: _PARSERS[str(field.type)] for field in ordered}
        self._header = (",".join(self._parsers) + "\n").encode()
        earlier = [name for name in self._parsers if name not in LATER_COLUMNS]
        self._earlier_header = (",".join(earlier) + "\n").encode()

    def read(self) -> list[Line]:
        """Return the lines of all runs, the latest where a run was repeated."""
        if self._is_empty():
            raise ResultsError(f"No results at {self.path}. Run 'imboost-bench run' first.")
        self._check_header()
        with self.path.open(newline="", encoding="utf-8", errors="replace") as file:
            lines = [self._parse(row) for row in csv.DictReader(file)]
        # The unparsed columns identify a run at a lower cost than its specification.
        latest = {(line.identity, line.round): line for line in lines if line is not None}
        finished = {line.identity for line in latest.values() if line.ends_run}
        # A failure counts only until the run succeeds.
        return [
            line
            for line in latest.values()
            if (line.identity in finished) == (line.status == "ok")
        ]

    def finished(self, time_limit: float | None = None) -> set[RunSpec]:
        """Return the runs that need not be repeated.

        These are the successful runs, and those skipped at this time limit or a longer one.
        """
        if self._is_empty():
            return set()
        limit = math.inf if time_limit is None else time_limit
        return {
            line.spec
            for line in self.read()
            if line.ends_run or (line.status == "skipped" and line.seconds >= limit)
        }

    def append(self, lines: Sequence[Line]) -> None:
        """Write the lines of one run; they are on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = self._to_csv(map(_format, lines), header=self._is_empty())
        with self.path.open("a", newline="", encoding="utf-8") as file:
            file.write(text)  # in one write
            file.flush()
            os.fsync(file.fileno())

    def repair(self) -> None:
        """Cut off a last line that a crash left incomplete, and add columns of later versions."""
        if self._is_empty():
            return
        is_earlier = self._check_header()
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end != len(content):
            with self.path.open("r+b") as file:
                file.truncate(end)
        if is_earlier:
            self._add_columns()

    def _add_columns(self) -> None:
        from imboost.persistence.atomic_write import atomic_write

        defaults = {
            field.name: field.default
            for field in fields(self.line_type)
            if field.name in LATER_COLUMNS
        }
        with self.path.open(newline="", encoding="utf-8", errors="replace") as file:
            rows = [row | defaults for row in csv.DictReader(file) if _is_complete(row)]
        with atomic_write(self.path) as draft:
            draft.write_text(self._to_csv(rows, header=True), encoding="utf-8", newline="")

    def _to_csv(self, rows: Iterable[dict[str, Any]], *, header: bool) -> str:
        buffer = io.StringIO(newline="")
        writer = csv.DictWriter(buffer, list(self._parsers), lineterminator="\n")
        if header:
            writer.writeheader()
        writer.writerows(rows)
        return buffer.getvalue()

    def _check_header(self) -> bool:
        """Return whether the header is of an earlier version.

        Raise if it is neither of that nor of this version; a crash may have cut it short.
        """
        with self.path.open("rb") as file:
            start = file.read(len(self._header))
        if start.startswith(self._earlier_header):
            return True
        if not self._header.startswith(start):
            columns = start.split(b"\n")[0].decode("utf-8", errors="replace")
            raise ResultsError(
                f"{self.path} is not a result file of this version: it begins with "
                f"'{columns[:200]}'. Name another folder."
            )
        return False

    def _is_empty(self) -> bool:
        """Whether there is no file yet, or one whose writer died before the first line."""
        return not self.path.is_file() or self.path.stat().st_size == 0

    def _parse(self, row: dict[str | Any, str | Any]) -> Line | None:
        """Return a line, or None if it is incomplete."""
        if not _is_complete(row):
            return None
        try:
            values = {
                name: parse(row[name]) for name, parse in self._parsers.items() if name in row
            }
        except ValueError:
            return None
        return self.line_type(**values)


def _is_complete(row: dict[str | Any, str | Any]) -> bool:
    """Whether a row has as many values as the header has columns."""
    return None not in row and None not in row.values()


def _format(line: RunLine) -> dict[str, Any]:
    """Return the values of a line; floats that do not identify the run have six digits."""
    exact = {"oracle_noise"} | ({"seconds"} if line.status == "skipped" else set())
    values = {
        name: f"{value:.6g}" if isinstance(value, float) and name not in exact else value
        for name, value in vars(line).items()
    }
    return values | {"reason": " ".join(line.reason.split())}
