"""Tables that can be written as Markdown and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from imboost_bench.report.formatting import Kind, format_value

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
    """

    frame: DataFrame
    kinds: Mapping[str, Kind] = field(default_factory=dict)

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
    """A data frame of numbers with summary rows below.

    Parameters
    ----------
    frame : DataFrame
        Named rows and columns; NaN where there is no value.
    summary : mapping
        Rows below the others: their format and their values.
    kind : {"figure", "signed"}
    """

    frame: DataFrame
    summary: Mapping[str, tuple[Kind, Sequence[float]]]
    kind: Kind = "figure"

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


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    header, *body = (f"| {' | '.join(map(_escape, row))} |" for row in rows)
    return "\n".join([header, "|" + "---|" * len(rows[0]), *body])


def _escape(text: str) -> str:
    """Keep text from being read as markup or as the end of its cell."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
