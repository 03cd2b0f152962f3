"""The position of a value among those of reference rows: training rows not called outliers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.reporting.formatting import percent
from imboost.tables.column_encoders import DAY
from imboost.tables.datetime_parser import DatetimeParser
from imboost.tables.number_parser import NumberParser
from imboost.tables.schema import ParsedColumns, Schema

MAX_VALUES = 1001
"""Maximum number of quantiles of a column that are kept."""

RARE = 0.01
"""Smaller fractions are written as "1 of N reference rows"; a time of day is reported only below
it."""

Position = tuple[float, str]
"""The reference fraction and position of a `Reason`."""


class ReferenceValues(Protocol):
    """The values of one column in reference rows."""

    def locate(self, values: Any) -> list[Position]:
        """Return the positions of parsed values among them."""
        ...


@dataclass(frozen=True, eq=False)
class ReferenceNumbers:
    """Numbers of reference rows.

    Parameters
    ----------
    values : array
        Up to `MAX_VALUES` evenly spaced quantiles, from the minimum to the maximum.
    missing : float
        Share of the rows in which the value is missing.
    """

    values: NDArray[np.float64]
    missing: float

    @classmethod
    def fit(cls, values: NDArray[np.float64]) -> Self:
        """Keep the quantiles of parsed values; nan is missing.

        >>> reference = ReferenceNumbers.fit(np.array([1, 2, 2, 5, np.nan]))
        >>> reference.locate(np.array([3.0, 9.0]))
        [(0.75, 'above 75% of reference rows'), (1.0, 'above all reference rows')]
        """
        known = np.sort(values[~np.isnan(values)])
        kept = np.linspace(0, len(known) - 1, min(len(known), MAX_VALUES)).round()
        return cls(known[kept.astype(np.int64)], 1 - len(known) / max(len(values), 1))

    def locate(self, values: NDArray[np.float64]) -> list[Position]:
        """Return the fraction of reference rows with a smaller value."""
        if len(self.values) == 0:
            no_value = (0.0, "no reference row has a value")
            return [_missing(1.0) if np.isnan(value) else no_value for value in values]
        return [
            _missing(self.missing) if np.isnan(value) else (below, _above_or_below(below, above))
            for value, below, above in zip(
                values, *_shares_beside(self.values, values), strict=True
            )
        ]


@dataclass(frozen=True, eq=False)
class ReferenceTimes:
    """Datetimes of reference rows.

    Parameters
    ----------
    moments : ReferenceNumbers
        Seconds since 1970.
    times_of_day : array
        Their seconds since midnight, sorted; empty if all are at midnight.
    """

    moments: ReferenceNumbers
    times_of_day: NDArray[np.float64]

    @classmethod
    def fit(cls, values: NDArray[np.float64]) -> Self:
        """Keep the quantiles of parsed values; nan is missing."""
        moments = ReferenceNumbers.fit(values)
        times = np.sort(moments.values % DAY)
        return cls(moments, times if (times > 0).any() else times[:0])

    def locate(self, values: NDArray[np.float64]) -> list[Position]:
        """Return the fraction of reference rows before, or earlier in the day if that is rarer.

        >>> days = np.arange(30) * DAY
        >>> reference = ReferenceTimes.fit(days + 3600 * (8 + np.arange(30) % 9))
        >>> reference.locate(np.array([15 * DAY + 3 * 3600]))
        [(0.0, 'earlier in the day than all reference rows')]
        """
        positions = self.moments.locate(values)
        if len(self.times_of_day) == 0:
            return positions
        shares = zip(
            *_shares_beside(self.moments.values, values),
            *_shares_beside(self.times_of_day, values % DAY),
            strict=True,
        )
        return [
            (earlier, _earlier_or_later(earlier, later))
            if min(earlier, later) < min(RARE, before, after)
            else position
            for position, (before, after, earlier, later) in zip(positions, shares, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class ReferenceCategories:
    """Categories of reference rows.

    Parameters
    ----------
    counts : dict of str to int
        Number of rows with each category.
    n_rows : int
    """

    counts: Mapping[str, int]
    n_rows: int

    @classmethod
    def fit(cls, values: pa.ChunkedArray) -> Self:
        """Count parsed values; null is missing.

        >>> reference = ReferenceCategories.fit(pa.chunked_array([["red", "red", "blue", None]]))
        >>> reference.locate(pa.chunked_array([["red", "green"]]))
        [(0.5, 'in 50% of reference rows'), (0.0, 'in no reference row')]
        """
        counted = pc.value_counts(values.drop_null()).to_pylist()
        return cls({one["values"]: one["counts"] for one in counted}, len(values))

    def locate(self, values: pa.ChunkedArray) -> list[Position]:
        """Return the fraction of reference rows with the same category."""
        n_rows = max(self.n_rows, 1)
        missing = _missing(1 - sum(self.counts.values()) / n_rows)
        shares = {category: count / n_rows for category, count in self.counts.items()}
        return [
            missing
            if category is None
            else (shares.get(category, 0.0), f"in {_rows(shares.get(category, 0.0))}")
            for category in values.to_pylist()
        ]


def fit_reference_values(
    schema: Schema, parsed: ParsedColumns, is_reference: NDArray[np.bool_]
) -> dict[str, ReferenceValues]:
    """Return the values of reference rows by column.

    Parameters
    ----------
    schema : Schema
    parsed : dict of str to parsed cells
        The training table as `Schema.parse` returns it.
    is_reference : bool array of shape (n_rows,)
    """
    reference: dict[str, ReferenceValues] = {}
    for name, parser in schema.parsers.items():
        if isinstance(parser, NumberParser):
            reference[name] = ReferenceNumbers.fit(parsed[name][is_reference])
        elif isinstance(parser, DatetimeParser):
            reference[name] = ReferenceTimes.fit(parsed[name][is_reference])
        else:
            reference[name] = ReferenceCategories.fit(parsed[name].filter(pa.array(is_reference)))
    return reference


def _shares_beside(
    known: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[list[float], list[float]]:
    """Return for each value the shares of sorted known values that are smaller and larger."""
    smaller = np.searchsorted(known, values, side="left") / len(known)
    larger = 1 - np.searchsorted(known, values, side="right") / len(known)
    return smaller.tolist(), np.where(np.isnan(values), np.nan, larger).tolist()


def _earlier_or_later(earlier: float, later: float) -> str:
    side, share = ("later", earlier) if earlier >= later else ("earlier", later)
    return f"{side} in the day than {_rows(share)}"


def _above_or_below(below: float, above: float) -> str:
    if below == above == 0.0:
        return "as in all reference rows"
    side, share = ("above", below) if below >= above else ("below", above)
    return f"{side} {_rows(share)}"


def _missing(share: float) -> Position:
    return share, f"missing in {_rows(share)}"


def _rows(share: float) -> str:
    """Write a fraction of the reference rows.

    >>> [_rows(share) for share in (0.0, 0.002, 0.5, 1.0)]
    ['no reference row', '1 of 500 reference rows', '50% of reference rows', 'all reference rows']
    """
    if share in (0.0, 1.0):
        return "all reference rows" if share else "no reference row"
    if share < RARE:
        return f"1 of {1 / share:,.0f} reference rows"
    return f"{percent(share)} of reference rows"
