"""The rounding of numbers, and numbers and times as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from imboost.arrays import Floats

MAX_DECIMALS = 6  # numbers with more decimals count as not rounded
ROUNDED_FRACTION = 0.99  # of the values have the decimals of their column
MAD_TO_SD = 1.4826  # standard deviation of a Gaussian in median absolute deviations


def rounding_unit(values: Floats) -> float:
    """Return the unit to which numbers are rounded, 0 if they are not.

    >>> rounding_unit(np.array([1.25, 3.5, 7.0])), rounding_unit(np.array([3.0, 4.0]))
    (0.01, 1.0)
    >>> rounding_unit(np.array([1 / 3, 1 / 7]))
    0.0
    """
    known = values[np.isfinite(values)]
    for decimals in range(MAX_DECIMALS + 1):
        scaled = known * 10.0**decimals
        is_rounded = np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1e3)
        if is_rounded.mean() >= ROUNDED_FRACTION:
            return float(10.0**-decimals)
    return 0.0


def center_and_spread(values: Floats) -> tuple[float, float]:
    """Return the median and a robust standard deviation that is not 0.

    >>> center_and_spread(np.array([1.0, 2.0, 3.0, 4.0, 90.0]))
    (3.0, 1.4826)
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    center = float(np.median(known))
    spread = MAD_TO_SD * float(np.median(np.abs(known - center)))
    return center, spread or float(known.std()) or 1.0


def write_number(value: float, unit: float) -> str:
    """Write a number with the decimals of its column.

    >>> write_number(1204.108, 0.01), write_number(12.0, 1.0), write_number(1 / 3, 0.0)
    ('1,204.11', '12', '0.3333')
    """
    if not np.isfinite(value):
        return "unknown"
    if unit == 0 or abs(value) >= 1e15:
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.6g}"
    return f"{value:,.{max(0, round(-np.log10(unit)))}f}"


def write_time(seconds: float) -> str:
    """Write seconds since 1970 as a date, with the time of day unless it is midnight.

    >>> write_time(86400.0), write_time(90061.0)
    ('1970-01-02', '1970-01-02 01:01:01')
    """
    if not np.isfinite(seconds) or not -6.3e10 <= seconds < 2.54e11:  # years of four digits
        return "unknown"
    text = str(np.datetime64(int(np.floor(seconds)), "s")).replace("T", " ")
    return text.removesuffix(" 00:00:00")


def write_value(value: float, unit: float, is_datetime: bool) -> str:
    """Write a number or a time."""
    return write_time(value) if is_datetime else write_number(value, unit)


def join_words(words: Sequence[str]) -> str:
    """Join words with commas and "and".

    >>> join_words(["a", "b", "c"]), join_words(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
