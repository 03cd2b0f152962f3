"""Tables that can be written as HTML, Markdown and CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from imboost_bench.report.formatting import Kind, compact, format_value

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Table:
    """A data frame and the formats of its columns.

    Parameters
    ----------
    frame : DataFrame
        Its index is not shown.
    kinds : mapping
        Formats by column; "text" if not given.
    marked : str
        First value of the row to highlight.
    """

    frame: DataFrame
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    marked: str = ""

    @property
    def columns(self) -> list[tuple[str, Kind]]:
        """Names and formats of the columns."""
        return [(name, self.kinds.get(name, "text")) for name in self.frame.columns]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The values, row by row."""
        return list(self.frame.itertuples(index=False, name=None))

    def markdown(self) -> str:
        """Return the table as Markdown."""
        kinds = [kind for _, kind in self.columns]
        body = [list(map(format_value, row, kinds)) for row in self.rows]
        return _markdown([list(self.frame.columns), *body])

    def csv(self) -> str:
        """Return the table as CSV, with unformatted numbers."""
        return str(self.frame.to_csv(index=False, float_format="%.6g"))


@dataclass(frozen=True)
class Matrix:
    """A data frame of numbers, shaded by size, with summary rows below.

    Parameters
    ----------
    frame : DataFrame
        Named rows and columns; NaN where there is no value.
    summary : mapping
        Rows below the others: their format and their values.
    scale : tuple of float
        The absolute values without shade and with full shade.
    kind : {"figure", "signed"}
    hints : DataFrame, optional
        Tooltips, of the shape of `frame`.
    """

    frame: DataFrame
    summary: Mapping[str, tuple[Kind, Sequence[float]]]
    scale: tuple[float, float]
    kind: Kind = "figure"
    hints: DataFrame | None = None

    def cells(self, row: int) -> list[dict[str, str | bool]]:
        """Return text, shade and tooltip of every cell of a row, and whether it is the best."""
        values = self.frame.iloc[row]
        has_best = self.kind == "figure" and values.count() > 1
        return [
            {
                "text": compact(format_value(value, self.kind)),
                "shade": self._shade(value),
                "is_best": has_best and value == values.max(),
                "hint": "" if self.hints is None else self.hints.iat[row, column],
            }
            for column, value in enumerate(values)
        ]

    def summary_cells(self, name: str) -> list[str]:
        """Return the texts of a summary row."""
        kind, values = self.summary[name]
        texts = [format_value(value, kind) for value in values]
        return [compact(text) for text in texts] if kind != "number" else texts

    def markdown(self) -> str:
        """Return the table as Markdown."""
        body = [
            [name, *(format_value(value, self.kind) for value in values)]
            for name, *values in self.frame.itertuples(name=None)
        ]
        summary = [
            [f"**{name}**", *(format_value(value, kind) for value in values)]
            for name, (kind, values) in self.summary.items()
        ]
        return _markdown([[self.frame.index.name, *self.frame.columns], *body, *summary])

    def csv(self) -> str:
        """Return the table as CSV, with unformatted numbers."""
        frame = self.frame.copy()
        for name, (_, values) in self.summary.items():
            frame.loc[name] = list(values)
        return str(frame.to_csv(float_format="%.6g"))

    def _shade(self, value: float) -> str:
        """Return a background: blue for positive values, orange for negative ones."""
        if math.isnan(value):
            return ""
        none, full = self.scale
        opacity = 0.5 * min(1.0, max(0.0, (abs(value) - none) / (full - none)))
        colour = "0,114,178" if value >= 0 else "213,94,0"
        return f"rgba({colour},{opacity:.2f})" if opacity >= 0.01 else ""


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    header, *body = (f"| {' | '.join(map(_escape, row))} |" for row in rows)
    return "\n".join([header, "|" + "---|" * len(rows[0]), *body])


def _escape(text: str) -> str:
    """Keep text from being read as markup or as the end of its cell."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
