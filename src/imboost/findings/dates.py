"""Dates and years that cannot be right."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from imboost.arrays import Floats, Mask
from imboost.facts import FactKind
from imboost.findings.finding import CheckedTable, Found
from imboost.findings.sentinels import DATES
from imboost.relations.numeric import rounding_unit
from imboost.tables.cells import mask_missing
from imboost.tables.roles import Role

YEAR = 365.2425 * 86_400  # seconds
MIN_ROWS = 20  # dates that are needed to know which are common
MAX_SHARE = 0.02  # of the dates; more of them are no errors
MIN_GAP_YEARS = 5  # between an impossible date and the next one
MIN_GAP_SPANS = 1.5  # the same, in ranges of the other dates without that share on both sides
YEARS = 1700, 2100  # range of numbers that may be years
MIN_YEARS = 0.98  # share of the numbers in that range, in columns of years
LIKE_A_DATE = r"^\d{1,4}[-/.]\d{1,4}([-/.]\d{1,4})?(\D|$)|^\d{8}$|^\d{1,2}:\d{1,2}"
YEAR_IN_NAME = r"(?i)year|yr|date|built"


def find_impossible_dates(checked: CheckedTable) -> Iterator[Found]:
    """Find dates that no calendar has, dates in the future and dates far from all others."""
    for name in checked.names(Role.DATETIME):
        where = unreadable(checked, name) & looks_like_date(checked, name)
        if where.any():
            yield checked.cells(FactKind.IMPOSSIBLE_DATE, name, where)
        values = np.asarray(checked.parsed[name])
        if float(np.nanmax(values, initial=0.0)) <= 86_400:  # times of day
            continue
        now = float(np.datetime64(checked.today, "s").astype(np.int64)) + 86_400
        sentinels = np.array(DATES, dtype="datetime64[D]").astype(np.int64) * 86_400.0
        unusual = np.where(np.isin(values, sentinels), np.nan, values)
        yield from _far_off(checked, name, unusual, now, MIN_GAP_YEARS * YEAR)
    for name in checked.names(Role.NUMERIC):
        values = np.asarray(checked.parsed[name])
        if _are_years(name, values):
            yield from _far_off(checked, name, values, checked.today.year + 1, MIN_GAP_YEARS)


def _far_off(
    checked: CheckedTable, name: str, values: Floats, now: float, min_gap: float
) -> Iterator[Found]:
    """Find dates that are in the future or far from all others."""
    known = values[np.isfinite(values)]
    if len(known) < MIN_ROWS:
        return
    low, high = np.quantile(known, [MAX_SHARE, 1 - MAX_SHARE])
    gap = max(MIN_GAP_SPANS * (high - low), min_gap)
    most = max(MAX_SHARE * len(known), 1)
    is_future = values > now
    if is_future.sum() > most:  # a column of plans or deadlines
        is_future[:] = False
    is_far = ((values > high + gap) | (values < low - gap)) & ~is_future
    for where, kind in ((is_future, FactKind.FUTURE_DATE), (is_far, FactKind.FAR_DATE)):
        if 0 < where.sum() <= most:
            yield checked.cells(kind, name, where)


def unreadable(checked: CheckedTable, name: str) -> Mask:
    """Return which cells of a column are there but could not be parsed."""
    values = checked.parsed[name]
    is_missing = np.isnan(values) if isinstance(values, np.ndarray) else values.is_null()
    is_there = mask_missing(checked.table.column(name), checked.schema.missing_values).is_valid()
    return np.asarray(np.asarray(is_missing) & np.asarray(is_there))


def looks_like_date(checked: CheckedTable, name: str) -> Mask:
    """Return which cells of a column have the form of a date or a time."""
    matches = pc.match_substring_regex(checked.texts[name], LIKE_A_DATE)
    return np.asarray(pc.fill_null(matches, False))


def _are_years(name: str, values: Floats) -> bool:
    """Whether numbers are years, by their range and by the name of the column."""
    known = values[np.isfinite(values)]
    if len(known) < MIN_ROWS or rounding_unit(known) != 1:
        return False
    in_range = np.mean((known >= YEARS[0]) & (known <= YEARS[1]))
    return bool(in_range >= MIN_YEARS and re.search(YEAR_IN_NAME, name))
