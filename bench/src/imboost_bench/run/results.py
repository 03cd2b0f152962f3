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

from imboost.errors import IMBoostError
from imboost_bench.run.protocol import RunLine, RunSpec

Line = TypeVar("Line", bound=RunLine)

_PARSERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": lambda text: text == "True",
}


class ResultsError(IMBoostError):
    """A result file that is missing, damaged or of another layout."""


class ResultFile(Generic[Line]):
    """Results in a CSV file that survives an interrupted writer.

    The lines of a run are written together and reach the disk before the next run's. A line
    cut short by a crash is left out, and its run repeated. The fields of the dataclass
    `line_type` are the columns.
    """

    def __init__(self, path: Path, line_type: type[Line]) -> None:
        self.path = path
        self.line_type = line_type
        self._parsers = {own.name: _PARSERS[str(own.type)] for own in fields(line_type)}

    def read(self) -> list[Line]:
        """Return the lines of all runs, the latest where a run was repeated."""
        rows = self._rows()
        if not rows:
            raise ResultsError(f"No results at {self.path}. Run 'imboost-bench run' first.")
        lines = [line for line in map(self._parse, rows) if line is not None]
        latest = {(line.spec, line.round): line for line in lines}
        finished = {spec for (spec, _), line in latest.items() if line.ends_run}
        # A failure counts only until the run succeeds.
        return [
            line
            for (spec, _), line in latest.items()
            if (spec in finished) == (line.status == "ok")
        ]

    def finished(self, time_limit: float | None = None) -> set[RunSpec]:
        """Return the runs that need not be repeated.

        These are the successful runs, and those skipped at this time limit or a longer one.
        """
        limit = math.inf if time_limit is None else time_limit
        return {
            line.spec
            for line in (self.read() if self._rows() else ())
            if line.ends_run or (line.status == "skipped" and line.seconds >= limit)
        }

    def append(self, lines: Sequence[Line]) -> None:
        """Write the lines of one run; they are on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.is_file() or self.path.stat().st_size == 0
        with self.path.open("a", newline="", encoding="utf-8") as file:
            file.write(self._to_csv(map(_format, lines), header=is_new))  # in one write
            file.flush()
            os.fsync(file.fileno())

    def repair(self) -> None:
        """Remove lines that a crash left incomplete."""
        from imboost.persistence.atomic_write import atomic_write

        if not self.path.is_file():
            return
        rows = self._rows()
        whole = self._to_csv(rows, header=bool(rows)).encode()
        if whole != self.path.read_bytes():
            with atomic_write(self.path) as draft:
                draft.write_bytes(whole)

    def _rows(self) -> list[dict[str, str]]:
        """Return the values of the complete lines; raise if it is another kind of file."""
        if not self.path.is_file():
            return []
        text = self.path.read_bytes().decode(errors="replace")
        header, end, _ = text.partition("\n")
        if not end and ",".join(self._parsers).startswith(header):
            return []  # its writer died before the first line
        if header.split(",") != list(self._parsers):
            raise ResultsError(
                f"{self.path} is not a result file of this version: it begins with "
                f"'{header[:200]}'. Name another folder."
            )
        rows = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1], newline=""))
        return [row for row in rows if None not in row and None not in row.values()]

    def _parse(self, row: dict[str, str]) -> Line | None:
        """Return a line, or None if a value is damaged."""
        try:
            return self.line_type(**{name: self._parsers[name](row[name]) for name in row})
        except ValueError:
            return None

    def _to_csv(self, rows: Iterable[dict[str, Any]], *, header: bool) -> str:
        buffer = io.StringIO(newline="")
        writer = csv.DictWriter(buffer, list(self._parsers), lineterminator="\n")
        if header:
            writer.writeheader()
        writer.writerows(rows)
        return buffer.getvalue()


def _format(line: RunLine) -> dict[str, Any]:
    """Return the values of a line; floats that do not identify the run have six digits."""
    exact = {"oracle_noise"} | ({"seconds"} if line.status == "skipped" else set())
    values = {
        name: f"{value:.6g}" if isinstance(value, float) and name not in exact else value
        for name, value in vars(line).items()
    }
    return values | {"reason": " ".join(line.reason.split())}
