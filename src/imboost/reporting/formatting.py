"""Numbers as text, for pages, tables, figures and the terminal."""

from __future__ import annotations

import math
from typing import Literal

Value = str | float | None
Kind = Literal["text", "prose", "count", "figure", "signed", "margin", "number", "ratio"]
"""Format of a column: 0.123 (figure), +0.123 (signed), ± 0.123 (margin), 1.2 (number),
1.23 × (ratio). Text stays on one line; prose may wrap."""

MISSING = "\N{EN DASH}"


def format_value(value: Value, kind: Kind) -> str:
    """Format a value of a column; a missing value is a dash.

    >>> [format_value(0.5, kind) for kind in ("figure", "signed", "margin")]
    ['0.500', '+0.500', '± 0.500']
    >>> format_value(None, "number")
    '–'
    """
    if value is None or value == "":
        return MISSING
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return MISSING
    if kind == "signed":
        rounded = round(value, 3) or 0.0  # no sign before a zero
        return (f"{rounded:+.3f}" if rounded else "0.000").replace("-", "\N{MINUS SIGN}")
    formats = {"figure": "{:.3f}", "margin": "± {:.3f}", "number": "{:,.1f}", "ratio": "{:,.2f} ×"}
    return formats.get(kind, "{:g}").format(value)


def compact(text: str) -> str:
    """Drop zeros that a narrow column has no room for.

    >>> [compact(text) for text in ("0.123", "+0.123", "10.5", "1.000")]
    ['.123', '+.123', '10.5', '1.00']
    """
    if text == "1.000":
        return "1.00"
    for sign in ("+", "\N{MINUS SIGN}", ""):
        if text.startswith(f"{sign}0."):
            return sign + text.removeprefix(f"{sign}0")
    return text


def percent(share: float) -> str:
    """Format a fraction as a percentage, with more digits close to 0% and 100%.

    >>> [percent(share) for share in (1.0, 0.996, 0.4, 0.021, 0.0005, 1e-7)]
    ['100%', '99.6%', '40%', '2.1%', '0.05%', 'under 0.01%']
    """
    if 0 < share < 0.0001:
        return "under 0.01%"
    if 0.99 < share < 1:
        return f"{math.floor(1000 * share) / 10:.1f}%"  # never rounded up to 100%
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"


def count(number: int, noun: str) -> str:
    """Write a number and its noun, in the plural unless the number is 1.

    >>> count(1, "row"), count(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
