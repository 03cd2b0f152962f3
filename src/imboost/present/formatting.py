"""Numbers and cells as text, for pages, notebooks and the terminal."""

from __future__ import annotations

import math
import re

# Control characters, surrogates, and marks that change the direction of text.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def number(value: float, decimals: int | None = None, sign: str = "") -> str:
    """Write a number with four significant digits, or with the given decimals.

    With the sign "+", positive numbers have a sign too.

    >>> [number(value) for value in (12, 0.123456, -12.5, 123456.7)]
    ['12', '0.1235', '−12.5', '123,457']
    >>> [number(value, 3, "+") for value in (0.5, -0.25, -0.0001)]
    ['+0.500', '−0.250', '0.000']
    """
    if decimals is not None:
        value = round(value, decimals) or 0.0  # no sign before a zero
        text = f"{value:{sign if value else ''},.{decimals}f}"
    elif 1000 <= abs(value) < math.inf:
        text = f"{value:{sign},.0f}"
    else:
        text = f"{value:{sign}.4g}"
    return text.replace("-", "\N{MINUS SIGN}", 1)


def rounded(value: float, unit: float) -> str:
    """Write a number with the decimals of its column, which is rounded to `unit`; 0 if it is not.

    >>> rounded(1204.108, 0.01), rounded(12.0, 1.0), rounded(1 / 3, 0.0)
    ('1,204.11', '12', '0.3333')
    """
    if unit == 0 or abs(value) >= 1e15:
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.6g}"
    return f"{value:,.{max(0, round(-math.log10(unit)))}f}"


def percent(fraction: float) -> str:
    """Format a fraction as a percentage, with more digits close to 0% and 100%.

    >>> [percent(part) for part in (1.0, 0.9999, 0.4, 0.021, 0.0005, 1e-7)]
    ['100%', '99.9%', '40%', '2.1%', '0.05%', 'under 0.01%']
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


def duration(seconds: float) -> str:
    """Write an estimated time in words.

    >>> [duration(seconds) for seconds in (0.2, 12.7, 100, 4000)]
    ['a moment', 'about 13 seconds', 'about 2 minutes', 'about 1 hour']
    """
    if seconds < 2:
        return "a moment"
    if seconds < 90:
        return f"about {count(round(seconds), 'second')}"
    if seconds < 3600:
        return f"about {count(round(seconds / 60), 'minute')}"
    return f"about {count(round(seconds / 3600), 'hour')}"


def shorten(text: str) -> str:
    """Round a long number to six digits, or to a whole number from a million on.

    >>> shorten("29.357922354011"), shorten("6664660.25"), shorten("x51")
    ('29.3579', '6664660', 'x51')
    """
    if len(text) <= 8:
        return text
    try:
        value = float(text)
    except ValueError:
        return text
    return f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"


def cut(text: str, n: int) -> str:
    """Return at most `n` characters of a text, with an ellipsis if there are more."""
    return text if len(text) <= n else f"{text[:n]}…"


def printable(text: str) -> str:
    r"""Return text on one line that cannot control a terminal.

    >>> printable("5\n\x1b[31mred")
    '5 [31mred'
    """
    return UNPRINTABLE.sub("", re.sub(r"\s", " ", text))
