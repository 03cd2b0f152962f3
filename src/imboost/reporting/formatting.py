"""Numbers as text, for pages, tables, figures and the terminal."""

from __future__ import annotations

import math
import re
from typing import Literal

Value = str | float | None
Kind = Literal[
    "text", "prose", "count", "figure", "signed", "margin", "number", "ratio", "percent"
]
"""Format of a column: 0.123 (figure), +0.123 (signed), ± 0.123 (margin), 1.2 (number),
1.23 × (ratio), 12% (percent). Text stays on one line; prose may wrap."""

MISSING = "\N{EN DASH}"

# Control characters, surrogates, and marks that change the direction of text.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


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


def percent(fraction: float) -> str:
    """Format a fraction as a percentage, with more digits close to 0% and 100%.

    >>> [percent(part) for part in (1.0, 0.996, 0.4, 0.021, 0.0005, 1e-7)]
    ['100%', '99.6%', '40%', '2.1%', '0.05%', 'under 0.01%']
    """
    if 0 < fraction < 0.0001:
        return "under 0.01%"
    if 0.99 < fraction < 1:
        return f"{math.floor(1000 * fraction) / 10:.1f}%"  # never rounded up to 100%
    return f"{100 * fraction:.0f}%" if fraction >= 0.1 else f"{100 * fraction:.2g}%"


def count(number: int, noun: str) -> str:
    """Write a number and its noun, in the plural unless the number is 1.

    >>> count(1, "row"), count(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    r"""Return text on one line that cannot control a terminal.

    >>> printable("5\n\x1b[31mred")
    '5 [31mred'
    """
    return UNPRINTABLE.sub("", re.sub(r"\s", " ", text))
