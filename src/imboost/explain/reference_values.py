"""The positions of values among those of the reference rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa

from imboost.arrays import Floats, Mask
from imboost.facts import Position
from imboost.tables.cells import value_counts
from imboost.tables.datetime_parser import DatetimeParser
from imboost.tables.encoder import DAY
from imboost.tables.parsers import NumberParser
from imboost.tables.schema import ParsedColumns, Schema

MAX_VALUES = 1001  # maximum number of quantiles of a column that are kept
RARE_TIME = 0.01  # a time of day is reported if the share of earlier or later ones is smaller


class ReferencePosition(NamedTuple):
    """Where a value lies among those of the reference rows; see `Fact` for the fields."""

    position: Position
    share: float
    reference_share: float


@dataclass(frozen=True, eq=False)
class ReferenceNumbers:
    """Numbers or times of reference rows."""

    values: Floats  # up to `MAX_VALUES` evenly spaced quantiles, from minimum to maximum
    missing: float  # share of the rows in which the value is missing
    times_of_day: Floats  # seconds since midnight, sorted; empty for numbers and mere dates

    @classmethod
    def fit(cls, values: Floats, *, are_times: bool = False) -> Self:
        """Keep the quantiles of parsed values; nan is missing.

        >>> reference = ReferenceNumbers.fit(np.array([1, 2, 2, 5, np.nan]))
        >>> [str(found.position) for found in reference.locate(np.array([0.0, 9.0]))]
        ['below', 'above']
        """
        known = np.sort(values[~np.isnan(values)])
        kept = np.linspace(0, len(known) - 1, min(len(known), MAX_VALUES)).round()
        quantiles = known[kept.astype(np.int64)]
        times = np.sort(quantiles % DAY) if are_times else quantiles[:0]
        missing = 1 - len(known) / max(len(values), 1)
        return cls(quantiles, missing, times if times.any() else times[:0])

    def locate(self, values: Floats) -> list[ReferencePosition]:
        """Return the positions of parsed values; of times by the time of day if that is rarer.

        >>> times = np.arange(30) * DAY + 3600 * (8 + np.arange(30) % 9)
        >>> reference = ReferenceNumbers.fit(times, are_times=True)
        >>> [found] = reference.locate(np.array([15 * DAY + 3 * 3600]))
        >>> str(found.position), found.share
        ('earlier', 1.0)
        """
        if len(self.values) == 0:
            no_value = ReferencePosition(Position.NO_VALUES, 0.0, 0.0)
            return [_missing(1.0) if np.isnan(value) else no_value for value in values]
        missing, tails = _missing(self.missing), _tail_shares(self.values, values)
        positions = [
            missing if np.isnan(value) else _by_tails(below, above, Position.BELOW, Position.ABOVE)
            for value, (below, above) in zip(values, tails, strict=True)
        ]
        if len(self.times_of_day):
            by_time = _tail_shares(self.times_of_day, values % DAY)
            for at, (moment, time) in enumerate(zip(tails, by_time, strict=True)):
                if any(time) and min(time) < min(RARE_TIME, *moment):
                    positions[at] = _by_tails(*time, Position.EARLIER, Position.LATER)
        return positions


@dataclass(frozen=True, eq=False)
class ReferenceCategories:
    """Categories of reference rows: the number of rows with each, and of all rows."""

    counts: Mapping[str, int]
    n_rows: int

    def __post_init__(self) -> None:
        """Raise if a category is no text, as in a model folder that was edited."""
        if not all(isinstance(name, str) for name in self.counts):
            raise ValueError("a category is not a text")

    @classmethod
    def fit(cls, values: pa.ChunkedArray) -> Self:
        """Count parsed values; null is missing.

        >>> reference = ReferenceCategories.fit(pa.chunked_array([["red", "red", "blue", None]]))
        >>> [found.share for found in reference.locate(pa.chunked_array([["red", "green"]]))]
        [0.5, 0.0]
        """
        return cls(value_counts(values), len(values))

    def locate(self, values: pa.ChunkedArray) -> list[ReferencePosition]:
        """Return the positions of parsed values."""
        n_rows = max(self.n_rows, 1)
        missing = _missing(1 - sum(self.counts.values()) / n_rows)
        categories = values.to_pylist()
        shares = [self.counts.get(category, 0) / n_rows for category in categories]
        return [
            missing if category is None else ReferencePosition(Position.AMONG, share, share)
            for category, share in zip(categories, shares, strict=True)
        ]


ReferenceValues = ReferenceNumbers | ReferenceCategories


def fit_reference_values(
    schema: Schema, parsed: ParsedColumns, is_reference: Mask
) -> dict[str, ReferenceValues]:
    """Return the values of reference rows by column, given the parsed training table."""
    reference: dict[str, ReferenceValues] = {}
    for name, parser in schema.parsers.items():
        if isinstance(parser, NumberParser):
            reference[name] = ReferenceNumbers.fit(parsed[name][is_reference])
        elif isinstance(parser, DatetimeParser):
            reference[name] = ReferenceNumbers.fit(parsed[name][is_reference], are_times=True)
        else:
            reference[name] = ReferenceCategories.fit(parsed[name].filter(pa.array(is_reference)))
    return reference


def _tail_shares(known: Floats, values: Floats) -> list[tuple[float, float]]:
    """Return for each value the shares of sorted known values that are smaller and larger."""
    smaller = np.searchsorted(known, values, side="left") / len(known)
    larger = 1 - np.searchsorted(known, values, side="right") / len(known)
    return list(zip(smaller.tolist(), larger.tolist(), strict=True))


def _by_tails(below: float, above: float, low: Position, high: Position) -> ReferencePosition:
    if below == above == 0.0:
        return ReferencePosition(Position.SAME, 1.0, 0.0)
    return ReferencePosition(high if below >= above else low, max(below, above), below)


def _missing(share: float) -> ReferencePosition:
    return ReferencePosition(Position.MISSING, share, share)
