"""Numbers and dates that stand for a missing value, such as 999 and 1900-01-01."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from imboost.arrays import Floats
from imboost.facts import FactKind
from imboost.findings.finding import CheckedTable, Found
from imboost.relations.numeric import rounding_unit
from imboost.relations.relation import to_cells
from imboost.tables.roles import Role

REPDIGITS = tuple(
    float(sign * int(digit * length))
    for digit in "987"
    for length in range(1, 9)
    for sign in (1, -1)
)
NUMBERS = (*REPDIGITS, -1.0, 0.0)
"""Numbers that programs and people write for a missing value."""

# fmt: off
DATES = (
    "0001-01-01", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31", "1900-01-01",
    "1901-01-01", "1904-01-01", "1960-01-01", "1970-01-01", "1980-01-01", "2099-12-31",
    "2100-01-01", "2999-12-31", "3000-01-01", "9999-12-31",
)
# fmt: on
"""Dates from which programs count days, or which stand for no date."""

MIN_ROWS = 20  # other values that are needed
MAX_SHARE = 0.3  # of the values; a more common value is no sentinel
MAX_ZEROS = 0.05  # share of zeros, which are often a true value
MIN_BEYOND = 0.98  # share of the other values on one side of a sentinel
MIN_GAP = 0.5  # distance to the next value, relative to that value's distance from the median
MIN_REPEATED = 3  # rows that a sentinel of one digit has
MIN_DATE_GAP = 366 * 86_400.0  # seconds between a sentinel and the next date
EDGES = 0.02, 0.98  # quantiles of the typical values
ZERO_GAP = 10  # rounding units between 0 and the next value


def find_sentinels(checked: CheckedTable) -> Iterator[Found]:
    """Find values that are far from all others and stand for a missing value."""
    for name in checked.names(Role.NUMERIC):
        yield from _numbers(checked, name)
    for name in checked.names(Role.DATETIME):
        yield from _dates(checked, name)


def _numbers(checked: CheckedTable, name: str) -> Iterator[Found]:
    values = np.asarray(checked.parsed[name])
    known = values[np.isfinite(values)]
    distinct, counts = np.unique(known, return_counts=True)
    found = [float(value) for value in NUMBERS if value in distinct]
    rest = known[~np.isin(known, found)]
    if len(rest) < MIN_ROWS:
        return
    unit = rounding_unit(rest)
    for value in found:
        n = int(counts[np.searchsorted(distinct, value)])
        if _is_sentinel(value, n, known[known != value], unit):
            edges = tuple(np.quantile(rest, EDGES, method="nearest").tolist())
            where = values == value
            yield checked.cells(FactKind.SENTINEL, name, where, typical=edges, unit=unit)


def _is_sentinel(value: float, n: int, rest: Floats, unit: float) -> bool:
    """Whether a value is apart from the rest of a column."""
    others = rest[~(np.isin(rest, REPDIGITS) & (np.abs(rest) > 9))] if value != 0 else rest
    if n > MAX_SHARE * (n + len(rest)) or len(others) < MIN_ROWS:
        return False
    if value == 0:
        return n <= MAX_ZEROS * (n + len(rest)) and _is_zero_apart(others, unit)
    if value < 0 and (others >= 0).all():
        return value != -1 or len(np.unique(others)) > 2  # -1, 0 and 1 may be codes
    side = others[others < value] if value > 0 else others[others > value]
    if len(side) < MIN_BEYOND * len(others):
        return False
    nearest = float(side.max() if value > 0 else side.min())
    if abs(value) < 10:  # many numbers of one digit are true
        far = max(float(np.ptp(side)), 2 * unit)
        return n >= MIN_REPEATED and abs(value - nearest) > far
    reach = abs(nearest - float(np.median(others)))
    return abs(value - nearest) >= max(MIN_GAP * reach, 3 * unit)


def _is_zero_apart(others: Floats, unit: float) -> bool:
    """Whether all other values are above 0 and far from it, compared with their spacing."""
    low = float(others.min())
    if low <= 0:
        return False
    return low >= ZERO_GAP * unit and low > 2 * float(np.quantile(others, 0.25) - low)


def _dates(checked: CheckedTable, name: str) -> Iterator[Found]:
    values = np.asarray(checked.parsed[name])
    days = np.array(DATES, dtype="datetime64[D]").astype(np.int64) * 86_400.0
    known = values[np.isfinite(values)]
    rest = known[~np.isin(known, days)]
    if len(rest) < MIN_ROWS:
        return
    for day in days[np.isin(days, known)]:
        where = values == day
        if np.abs(rest - day).min() < MIN_DATE_GAP or where.sum() > MAX_SHARE * len(known):
            continue
        edges = tuple(to_cells(np.quantile(rest, EDGES, method="nearest"), is_time=True))
        yield checked.cells(FactKind.SENTINEL, name, where, typical=edges)
