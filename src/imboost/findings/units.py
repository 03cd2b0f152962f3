"""Numbers of a column in another unit than the others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from imboost.arrays import Floats, Mask
from imboost.facts import FactKind, Position
from imboost.findings.finding import CheckedTable, Found
from imboost.relations.numeric import rounding_unit
from imboost.stats.scaling import MAD_TO_STD
from imboost.tables.roles import Role

FACTORS = {
    2.2046: "kilograms and pounds",
    2.54: "inches and centimetres",
    3.2808: "feet and metres",
    10.0: "a decimal place",
    12.0: "months and years",
    25.4: "inches and millimetres",
    60.0: "minutes and hours",
    100.0: "cents or percent",
    1000.0: "thousands",
    3600.0: "seconds and hours",
    1e6: "millions",
}
"""Factors between units, and what they may mean."""

MIN_ROWS = 30  # values of the column
MAX_SHARE = 0.1  # of the values that are in another unit
MIN_CLUSTER = 3  # distinct values in another unit
MAX_SPREAD = 0.3  # standard deviation of the logarithms, relative to that of the factor
MAX_SPREAD_RATIO = 3  # of the standard deviations of both clusters
MAX_ERROR = 0.12  # of the logarithm of a factor
MIN_GAP = 0.4  # empty interval between both clusters, relative to the logarithm of the factor


def find_mixed_units(checked: CheckedTable) -> Iterator[Found]:
    """Find a few numbers that are all about the same factor away from the others."""
    for name in checked.names(Role.NUMERIC):
        values = np.asarray(checked.parsed[name])
        found = _cluster(values)
        if found is None:
            continue
        where, factor = found
        others = values[~where & np.isfinite(values)]
        low, high = np.quantile(others, [0.01, 0.99]).tolist()
        is_larger = np.median(values[where]) > np.median(others)
        yield checked.cells(
            FactKind.UNIT,
            name,
            where,
            typical=(low, high),
            unit=rounding_unit(values[np.isfinite(values)]),
            position=Position.ABOVE if is_larger else Position.BELOW,
            factor=factor,
            content=FACTORS[factor],
        )


def _cluster(values: Floats) -> tuple[Mask, float] | None:
    """Return a small cluster of values, and the factor between it and the others."""
    known = np.isfinite(values) & (values > 0)
    if known.sum() < max(MIN_ROWS, 0.9 * np.isfinite(values).sum()):
        return None
    logs = np.log10(values, where=known, out=np.full(len(values), np.nan))
    ordered = np.sort(logs[known])
    most = int(MAX_SHARE * len(ordered))
    gaps = np.diff(ordered)
    for at in (*range(most), *range(len(gaps) - most, len(gaps))):
        if gaps[at] < MIN_GAP * np.log10(2.2):
            continue
        edge = (ordered[at] + ordered[at + 1]) / 2
        is_low = at < most
        where = known & ((logs < edge) if is_low else (logs > edge))
        bulk = logs[known & ~where]
        factor = _factor(logs[where], bulk, float(gaps[at]))
        if factor is not None:
            return where, factor
    return None


def _factor(cluster: Floats, bulk: Floats, gap: float) -> float | None:
    """Return the known factor between two clusters of logarithms, if there is one."""
    if len(np.unique(cluster)) < MIN_CLUSTER:
        return None
    ratio = float(np.std(cluster)) / max(float(np.std(bulk)), 1e-12)
    if not 1 / MAX_SPREAD_RATIO <= ratio <= MAX_SPREAD_RATIO:
        return None
    center = float(np.median(bulk))
    spread = MAD_TO_STD * float(np.median(np.abs(bulk - center)))
    distance = abs(float(np.median(cluster)) - center)
    for factor in sorted(FACTORS, key=lambda size: abs(distance - np.log10(size))):
        size = float(np.log10(factor))
        error = 2 * spread / np.sqrt(len(cluster)) + 0.01 * size
        is_near = abs(distance - size) <= min(error, MAX_ERROR * size)
        if is_near and spread <= MAX_SPREAD * size and gap >= MIN_GAP * size:
            return factor
    return None
