"""The result file: one line per run and round, appended when a run ends."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from imboost.benchmark.run.protocol import RoundResult, RunSpec
from imboost.errors import ResultsError

COLUMNS = [field.name for field in fields(RoundResult)]
_HEADER = (",".join(COLUMNS) + "\n").encode()
_TYPES: dict[str, type] = {"int": int, "float": float, "str": str}
_READERS = {field.name: _TYPES[str(field.type)] for field in fields(RoundResult)}


class ResultFile:
    """Results in a CSV file that survives an interrupted writer.

    The lines of a run are written together and reach the disk before the next run's; a line
    cut short by a crash is dropped when the file is opened again, and its run repeated.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[RoundResult]:
        """Return the lines of all runs; of a run that was repeated, those of the last time.

        Raises
        ------
        ResultsError
            If the file is missing or not a result file.
        """
        if self._is_empty():
            raise ResultsError(f"No results at {self.path}. Run 'imboost bench run' first.")
        self._check_header()
        with self.path.open(newline="", encoding="utf-8", errors="replace") as file:
            lines = [_parse(row) for row in csv.DictReader(file)]
        # The columns that make up the specification tell runs apart, cheaper than it would.
        latest = {(line.identity, line.round): line for line in lines if line is not None}
        finished = {line.identity for line in latest.values() if line.ends_run}
        # A failure counts only until the run has gone well.
        return [
            line
            for line in latest.values()
            if (line.identity in finished) == (line.status == "ok")
        ]

    def finished(self) -> set[RunSpec]:
        """Return the runs that need not be done again."""
        if self._is_empty():
            return set()
        return {line.spec for line in self.read() if line.ends_run}

    def settled(self, time_limit: float | None) -> set[RunSpec]:
        """Return the runs that are finished, or met this time limit or a longer one."""
        if self._is_empty():
            return set()
        limit = math.inf if time_limit is None else time_limit
        return {
            line.spec
            for line in self.read()
            if line.ends_run or (line.status == "skipped" and line.seconds >= limit)
        }

    def append(self, lines: Sequence[RoundResult]) -> None:
        """Write the lines of one run; they are on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = _format(lines, header=self._is_empty())
        with self.path.open("a", newline="", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def repair(self) -> None:
        """Cut off a last line that a crash left unfinished."""
        if self._is_empty():
            return
        self._check_header()
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end != len(content):
            with self.path.open("r+b") as file:
                file.truncate(end)

    def _check_header(self) -> None:
        """Raise unless the file begins as a result file does; a crash may have cut it short."""
        with self.path.open("rb") as file:
            start = file.read(len(_HEADER))
        if not _HEADER.startswith(start):
            columns = start.split(b"\n")[0].decode("utf-8", errors="replace")
            raise ResultsError(
                f"{self.path} is not a result file of this version: it begins with "
                f"'{columns[:200]}'. Name another folder."
            )

    def _is_empty(self) -> bool:
        """Whether there is no file yet, or one whose writer died before the first line."""
        return not self.path.is_file() or self.path.stat().st_size == 0


def _format(lines: Iterable[RoundResult], *, header: bool) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n")
    if header:
        writer.writeheader()
    for line in lines:
        values: dict[str, Any] = asdict(line)
        # What tells runs apart is written in full; figures have six digits.
        full = {"oracle_noise"} | ({"seconds"} if line.status == "skipped" else set())
        for name, value in values.items():
            if isinstance(value, float) and name not in full:
                values[name] = f"{value:.6g}"
        values["reason"] = " ".join(line.reason.split())
        writer.writerow(values)
    return buffer.getvalue()


def _parse(row: dict[str | Any, str | Any]) -> RoundResult | None:
    """Read a line; None for one that is not whole."""
    if None in row or None in row.values():
        return None
    try:
        values = {name: read(row[name]) for name, read in _READERS.items()}
    except (TypeError, ValueError, KeyError):
        return None
    return RoundResult(**values)
