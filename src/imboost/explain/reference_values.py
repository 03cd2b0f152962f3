"""Where a cell lies among those of usual rows: the training rows not called outliers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.tables.cells import CLOCK
from imboost.tables.encoder import DAY, ColumnEncoder
from imboost.tables.parsers import CategoryParser, DatetimeParser, NumberParser

MOST_VALUES = 1001
"""Of a column's numbers so many are kept at most, evenly spaced in their order."""

RARE = 0.01
"""A smaller part of the rows is said as one in so many."""

Place = tuple[float, str]
"""A part of the usual rows, and what that says in words; see `Reason`."""

NEVER_KNOWN: Place = (0.0, "no usual row has a value")


class ReferenceValues(Protocol):
    """The cells of one column in usual rows."""

    def locate(self, cells: pa.ChunkedArray) -> list[Place]:
        """Say where cells lie among them."""
        ...


@dataclass(frozen=True, eq=False)
class ReferenceNumbers:
    """Numbers or times of usual rows.

    Parameters
    ----------
    values : array
        Up to `MOST_VALUES` of those that are known, sorted, with the smallest and the largest.
    missing : float
        The part of the rows in which there is none.
    parser : NumberParser or DatetimeParser
        How cells are read.
    """

    values: NDArray[np.float64]
    missing: float
    parser: NumberParser | DatetimeParser = field(default_factory=NumberParser)

    @classmethod
    def fit(
        cls, cells: pa.ChunkedArray, parser: NumberParser | DatetimeParser | None = None
    ) -> Self:
        """Learn from the cells of usual rows.

        >>> usual = ReferenceNumbers.fit(pa.chunked_array([[1, 2, 2, 5, None]]))
        >>> usual.locate(pa.chunked_array([[3, 9]]))
        [(0.75, 'above 75 % of usual rows'), (1.0, 'above all usual rows')]
        """
        parser = parser or NumberParser()
        found = parser.parse(cells)
        known = np.sort(found[~np.isnan(found)])
        kept = np.linspace(0, len(known) - 1, min(len(known), MOST_VALUES)).round()
        return cls(known[kept.astype(np.int64)], 1 - len(known) / max(len(found), 1), parser)

    def locate(self, cells: pa.ChunkedArray) -> list[Place]:
        """Say which part of usual rows has smaller values."""
        found = self.parser.parse(cells)
        if len(self.values) == 0:
            return [_missing(1.0) if np.isnan(value) else NEVER_KNOWN for value in found]
        return [
            _missing(self.missing) if np.isnan(value) else (below, _among(below, above))
            for value, below, above in zip(found, *_parts_beside(self.values, found), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class ReferenceTimes:
    """When usual rows are, and at what time of the day.

    Parameters
    ----------
    moments : ReferenceNumbers
        The times themselves.
    hours : array
        Their seconds since midnight, sorted; none if they have no time of day.
    """

    moments: ReferenceNumbers
    hours: NDArray[np.float64]

    @classmethod
    def fit(cls, cells: pa.ChunkedArray, parser: DatetimeParser) -> Self:
        """Learn from the cells of usual rows."""
        moments = ReferenceNumbers.fit(cells, parser)
        hours = np.sort(moments.values % DAY)
        has_hours = parser.form != CLOCK and bool((hours > 0).any())
        return cls(moments, hours if has_hours else hours[:0])

    def locate(self, cells: pa.ChunkedArray) -> list[Place]:
        """Say which part of usual rows is before, or earlier in the day if that is odder.

        >>> days = [f"2024-01-{day:02d} {8 + day % 9}:30" for day in range(1, 31)]
        >>> usual = ReferenceTimes.fit(pa.chunked_array([days]), DatetimeParser())
        >>> usual.locate(pa.chunked_array([["2024-01-16 03:12"]]))
        [(0.0, 'earlier in the day than all usual rows')]
        """
        places = self.moments.locate(cells)
        if len(self.hours) == 0:
            return places
        found = self.moments.parser.parse(cells)
        sides = zip(
            *_parts_beside(self.moments.values, found),
            *_parts_beside(self.hours, found % DAY),
            strict=True,
        )
        return [
            (earlier, _in_the_day(earlier, later))
            if min(earlier, later) < min(RARE, before, after)
            else place
            for place, (before, after, earlier, later) in zip(places, sides, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class ReferenceCategories:
    """Levels of a category in usual rows.

    Parameters
    ----------
    counts : dict of str to int
        In how many rows each level is.
    n_rows : int
    parser : CategoryParser
        How cells are read.
    """

    counts: Mapping[str, int]
    n_rows: int
    parser: CategoryParser = field(default_factory=CategoryParser)

    @classmethod
    def fit(cls, cells: pa.ChunkedArray, parser: CategoryParser | None = None) -> Self:
        """Learn from the cells of usual rows.

        >>> usual = ReferenceCategories.fit(pa.chunked_array([["red", "red", "blue", None]]))
        >>> usual.locate(pa.chunked_array([["red", "green"]]))
        [(0.5, 'in 50 % of usual rows'), (0.0, 'in no usual row')]
        """
        parser = parser or CategoryParser()
        counted = pc.value_counts(parser.parse(cells).drop_null())
        levels, counts = (counted.field(name).to_pylist() for name in ("values", "counts"))
        return cls(dict(zip(levels, counts, strict=True)), len(cells), parser)

    def locate(self, cells: pa.ChunkedArray) -> list[Place]:
        """Say which part of usual rows has the same levels."""
        n_rows = max(self.n_rows, 1)
        missing = 1 - sum(self.counts.values()) / n_rows
        places = []
        for level in self.parser.parse(cells).to_pylist():
            share = self.counts.get(level, 0) / n_rows
            places.append(_missing(missing) if level is None else (share, f"in {_part(share)}"))
        return places


def fit_reference_values(
    table: pa.Table, encoders: Mapping[str, ColumnEncoder], is_usual: NDArray[np.bool_]
) -> dict[str, ReferenceValues]:
    """Learn the cells of usual rows, column by column.

    Parameters
    ----------
    table : Arrow table
        The training table.
    encoders : dict of str to ColumnEncoder
        What the columns that are looked at are taken for.
    is_usual : array of shape (n_rows,)
        Which rows are usual.
    """
    rows = pa.array(is_usual)
    found: dict[str, ReferenceValues] = {}
    for name, encoder in encoders.items():
        cells = table.column(name).filter(rows)
        parser = encoder.parser
        if isinstance(parser, CategoryParser):
            found[name] = ReferenceCategories.fit(cells, parser)
        elif isinstance(parser, DatetimeParser):
            found[name] = ReferenceTimes.fit(cells, parser)
        else:
            found[name] = ReferenceNumbers.fit(cells, parser)
    return found


def _parts_beside(
    values: NDArray[np.float64], found: NDArray[np.float64]
) -> tuple[list[float], list[float]]:
    """Return which part of sorted values is smaller, and which is larger."""
    smaller = np.searchsorted(values, found, side="left") / len(values)
    larger = 1 - np.searchsorted(values, found, side="right") / len(values)
    return smaller.tolist(), np.where(np.isnan(found), np.nan, larger).tolist()


def _in_the_day(earlier: float, later: float) -> str:
    side, part = ("later", earlier) if earlier >= later else ("earlier", later)
    return f"{side} in the day than {'all usual rows' if part == 1.0 else _part(part)}"


def _among(below: float, above: float) -> str:
    if below == above == 0.0:
        return "as in all usual rows"
    side, part = ("above", below) if below >= above else ("below", above)
    return f"{side} all usual rows" if part == 1.0 else f"{side} {_part(part)}"


def _missing(part: float) -> Place:
    return part, f"missing in {_part(part)}"


def _part(part: float) -> str:
    if part == 0.0:
        return "no usual row"
    if part < RARE:
        return f"1 of {1 / part:,.0f} usual rows"
    return f"{100 * part:.3g} % of usual rows"
