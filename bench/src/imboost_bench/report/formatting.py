"""Numbers in tables of the benchmark."""

from __future__ import annotations

import math
import re
from typing import Literal

from imboost.present.formatting import percent

Value = str | float | None
Kind = Literal[
    "text", "prose", "count", "figure", "signed", "margin", "number", "ratio", "percent"
]
"""Format of a column: 0.123 (figure), +0.123 (signed), ± 0.123 (margin), 1.2 (number),
1.23 × (ratio), 12% (percent). Text stays on one line; prose may wrap."""

MISSING = "\N{EN DASH}"


def format_value(value: Value, kind: Kind) -> str:
    """Format a value of a column; a missing value is a dash.

    >>> [format_value(0.5, kind) for kind in ("figure", "signed", "margin")]
    ['0.500', '+0.500', '± 0.500']
    >>> format_value(None, "number")
    '–'
    """
    if isinstance(value, str):
        return value or MISSING
    if value is None or math.isnan(value):
        return MISSING
    if kind == "signed":
        rounded = round(value, 3) or 0.0  # no sign before a zero
        return (f"{rounded:+.3f}" if rounded else "0.000").replace("-", "\N{MINUS SIGN}")
    if kind == "percent":
        return percent(value)
    if kind == "count":
        return f"{value:,.0f}"
    formats = {"figure": "{:.3f}", "margin": "± {:.3f}", "number": "{:,.1f}", "ratio": "{:,.2f} ×"}
    return formats.get(kind, "{:g}").format(value)


def compact(text: str) -> str:
    """Drop zeros that a narrow column has no room for.

    >>> [compact(text) for text in ("0.123", "+0.123", "10.5", "1.000")]
    ['.123', '+.123', '10.5', '1.00']
    """
    return "1.00" if text == "1.000" else re.sub(r"^([+\N{MINUS SIGN}]?)0\.", r"\1.", text)
