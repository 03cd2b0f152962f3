"""Tables that read the same on a page, in Markdown and as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imboost.reporting.formatting import Kind, Value, compact, format_value


@dataclass(frozen=True)
class Column:
    """A column's name and how its values are written."""

    name: str
    kind: Kind = "text"


@dataclass(frozen=True)
class Table:
    """Named columns, rows, and what stands below them.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of sequence
    marked : str
        First value of the row that stands out.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    marked: str = ""

    def written(self) -> list[list[str]]:
        """Return the rows as text."""
        return [
            [
                format_value(value, column.kind)
                for value, column in zip(row, self.columns, strict=True)
            ]
            for row in self.rows
        ]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        names = [column.name for column in self.columns]
        return _markdown([names, *self.written()])

    def csv(self) -> str:
        """Return the table as comma-separated values, numbers as numbers."""
        return _csv([[column.name for column in self.columns], *self.rows])


@dataclass(frozen=True)
class Matrix:
    """One number for every row and column, shaded by its size.

    Parameters
    ----------
    corner : str
        What the rows are.
    columns, rows : sequence of str
        Their names.
    values : sequence of sequence
        Row by row; None where there is nothing.
    feet : mapping
        Rows below the others: how they are written, and their values.
    scale : tuple of float
        The values without shade and with full shade; if the first is 0 and values are signed,
        the shade tells the two signs apart.
    kind : {"figure", "signed"}
    hints : sequence of sequence, optional
        More words on every number.
    """

    corner: str
    columns: Sequence[str]
    rows: Sequence[str]
    values: Sequence[Sequence[float | None]]
    feet: Mapping[str, tuple[Kind, Sequence[float | None]]]
    scale: tuple[float, float]
    kind: Kind = "figure"
    hints: Sequence[Sequence[str]] | None = None

    def cells(self, row: int) -> list[dict[str, str | bool]]:
        """Return text, shade and hint of every number in a row, and whether it is the best."""
        known = [value for value in self.values[row] if value is not None]
        best = max(known, default=None) if self.kind == "figure" and len(known) > 1 else None
        return [
            {
                "text": compact(format_value(value, self.kind)),
                "shade": self._shade(value),
                "is_best": value is not None and value == best,
                "hint": self.hints[row][column] if self.hints else "",
            }
            for column, value in enumerate(self.values[row])
        ]

    def foot_cells(self, name: str) -> list[str]:
        """Return the texts of one of the rows below."""
        kind, values = self.feet[name]
        texts = [format_value(value, kind) for value in values]
        return [compact(text) for text in texts] if kind != "number" else texts

    def markdown(self) -> str:
        """Return the table as Markdown."""
        body = [
            [name, *(format_value(value, self.kind) for value in values)]
            for name, values in zip(self.rows, self.values, strict=True)
        ]
        feet = [
            [f"**{name}**", *(format_value(value, kind) for value in values)]
            for name, (kind, values) in self.feet.items()
        ]
        return _markdown([[self.corner, *self.columns], *body, *feet])

    def csv(self) -> str:
        """Return the table as comma-separated values, numbers as numbers."""
        body = [[name, *values] for name, values in zip(self.rows, self.values, strict=True)]
        feet = [[name, *values] for name, (_, values) in self.feet.items()]
        return _csv([[self.corner, *self.columns], *body, *feet])

    def _shade(self, value: float | None) -> str:
        """Return a background: blue for high values, orange for negative ones."""
        if value is None or math.isnan(value):
            return ""
        none, full = self.scale
        share = min(1.0, max(0.0, (abs(value) - none) / (full - none)))
        colour = "0,114,178" if value >= 0 else "213,94,0"
        return f"rgba({colour},{0.5 * share:.2f})" if share >= 0.02 else ""


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(_plain(text) for text in row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Keep a text from being read as markup or as the end of its cell."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def _csv(rows: Sequence[Sequence[Value]]) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    for row in rows:
        writer.writerow([_raw(value) for value in row])
    return buffer.getvalue()


def _raw(value: Value) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return "" if math.isnan(value) else f"{value:.6g}"
