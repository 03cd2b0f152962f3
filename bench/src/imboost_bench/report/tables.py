"""Tables: their formats, as HTML, Markdown, CSV and in the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from imboost.present.formatting import number, percent

if TYPE_CHECKING:
    from pandas import DataFrame

Kind = Literal[
    "text", "prose", "count", "figure", "signed", "margin", "number", "ratio", "percent"
]
"""Format of a column. Text stays on one line; prose may wrap."""

_SIGNED = ["difference", "AUC difference", "AP difference", "difference to the main protocol"]
_NUMBERS = ["mean rank", "wins", "seconds", "seconds per run"]
_COUNTS = ["seeds", "data sets", "paper's rows", "paper's columns", "paper's outliers"]
KINDS: dict[str, Kind] = {
    **dict.fromkeys([*_SIGNED, "95% CI low", "95% CI high"], "signed"),
    **dict.fromkeys([*_NUMBERS, "before the first question", "between rounds"], "number"),
    **dict.fromkeys(_COUNTS, "count"),
    **dict.fromkeys(["share", "paper's share"], "percent"),
    **dict.fromkeys(["skipped", "failed", "not run", "reason", "which", "differs in"], "prose"),
}
"""Formats of columns that their type does not give: whole numbers are counts, others figures."""

MISSING = "\N{EN DASH}"

_FORMATS: dict[Kind, Callable[[float], str]] = {
    "count": "{:,.0f}".format,
    "figure": lambda value: number(value, 3),
    "signed": lambda value: number(value, 3, "+"),
    "margin": lambda value: f"± {number(value, 3)}",
    "number": lambda value: number(value, 1),
    "ratio": lambda value: f"{number(value, 2)} ×",
    "percent": percent,
}


def format_value(value: str | float | None, kind: Kind) -> str:
    """Format a value of a column; a missing value is a dash.

    >>> [format_value(0.5, kind) for kind in ("figure", "signed", "margin", "ratio", "percent")]
    ['0.500', '+0.500', '± 0.500', '0.50 ×', '50%']
    >>> format_value(None, "number")
    '–'
    """
    if isinstance(value, str):
        return value or MISSING
    if value is None or math.isnan(value):
        return MISSING
    return _FORMATS.get(kind, "{:g}".format)(value)


@dataclass(frozen=True)
class Table:
    """A data frame and how it is shown; one without rows is false.

    The first column names the rows. Columns have the formats of `kinds`, those of `KINDS`, or
    what follows from the type; `summary` are formats of rows. With a `scale`, the absolute values
    without and with full shade, cells are shaded. The row or, then, the column `marked` stands
    out.
    """

    frame: DataFrame
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    marked: str = ""
    summary: Mapping[str, Kind] = field(default_factory=dict)
    scale: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> list[tuple[str, Kind]]:
        """Names and formats of the columns."""
        types: dict[str, Kind] = {"i": "count", "f": "figure"}
        kinds = {name: types.get(own.kind, "text") for name, own in self.frame.dtypes.items()}
        kinds |= {**KINDS, **self.kinds}
        return [(name, kinds[name]) for name in self.frame]

    @cached_property
    def texts(self) -> list[list[str]]:
        """All values as text, row by row."""
        kinds = [kind for _, kind in self.columns]
        return [
            [format_value(value, self.summary.get(row[0], kind)) for value, kind in pairs]
            for row in self.frame.itertuples(index=False, name=None)
            for pairs in [zip(row, kinds, strict=True)]
        ]

    @property
    def styles(self) -> DataFrame:
        """The styles of a shaded table: blue, orange below 0, and bold for the best of a row."""
        none, full = self.scale or (0.0, math.inf)
        values = self.frame.iloc[:, 1:].astype(float)
        values.loc[self.frame.iloc[:, 0].isin(self.summary)] = math.nan
        opacity = 0.5 * ((values.abs() - none) / (full - none)).clip(0.0, 1.0)
        colours = values.map(lambda value: "0,114,178" if value >= 0 else "213,94,0")
        shades = "background:rgba(" + colours + "," + opacity.map("{:.2f}".format) + ");"
        has_best = (values.count(axis=1) > 1) & ("signed" not in self.summary.values())
        is_best = values.eq(values.max(axis=1), axis=0).mul(has_best, axis=0)
        weights = is_best.map(lambda best: "font-weight:700" if best else "")
        return shades.where(opacity >= 0.01, "") + weights

    def markdown(self) -> str:
        """Return the table as Markdown, with the names of summary rows in bold."""
        rows = [
            [f"**{row[0]}**", *row[1:]] if row[0] in self.summary else row for row in self.texts
        ]
        rows = [list(self.frame), ["---"] * len(self.frame.columns), *rows]
        return "\n".join(f"| {' | '.join(map(_escape, row))} |" for row in rows)

    def csv(self) -> str:
        """Return the table as CSV, with unformatted numbers."""
        return str(self.frame.to_csv(index=False, float_format="%.6g"))


def _escape(text: str) -> str:
    """Keep text from being read as markup or as the end of its cell."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
