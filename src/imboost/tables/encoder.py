"""From the columns of a table to a matrix of numbers, and what was learned on the way."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.tables.cells import CLOCK
from imboost.tables.files import check_columns
from imboost.tables.layout import Feature, Kind, Layout
from imboost.tables.number_scaling import NumberScaling, fit_scaling
from imboost.tables.parsers import (
    CategoryParser,
    DatetimeParser,
    NumberParser,
    Parser,
    has_decimal_commas,
)
from imboost.tables.roles import ColumnFacts, Role

HUGE = 1e15
"""Larger numbers are written with an exponent."""

MAX_CATEGORIES = 50
"""Levels of a categorical column that have a column of their own; the others share bands."""

FREQUENCY_BIN_BASE = 4
"""A band holds levels that are seen up to so many times as often as the rarest in it."""

MISSING = "(missing)"
DAY, WEEK = 86_400.0, 7 * 86_400.0
CYCLES = {"time of day": DAY, "day of the week": WEEK}

Matrix = NDArray[np.float64]


class ColumnEncoder(Protocol):
    """Turns cells of one column into columns of numbers."""

    @property
    @abstractmethod
    def parser(self) -> Parser:
        """How cells are read."""
        ...

    @property
    @abstractmethod
    def parts(self) -> list[tuple[Kind, int, str]]:
        """Kind, number of columns and name of every part."""
        ...

    def transform(self, cells: pa.ChunkedArray) -> list[Matrix]:
        """Return one matrix (rows, columns) for every part."""
        ...

    def describe(self, columns: Matrix) -> list[str]:
        """Return what the first part of encoded rows says, as a person would write it."""
        ...


@dataclass(frozen=True)
class NumberEncoder:
    """Numbers, scaled; and where cells were missing in training, a column that says so."""

    parser: NumberParser
    scaling: NumberScaling
    has_missing: bool

    @classmethod
    def fit(cls, cells: pa.ChunkedArray, scaling: str, *, decimal_commas: bool = False) -> Self:
        """Learn from the cells of the training table."""
        parser = NumberParser.fit(cells, decimal_commas=decimal_commas)
        values = parser.parse(cells)
        return cls(parser, fit_scaling(scaling, values), bool(np.isnan(values).any()))

    @property
    def parts(self) -> list[tuple[Kind, int, str]]:
        """Kind, number of columns and name of every part."""
        return [(Kind.NUMERIC, 1, ""), *[(Kind.MISSING_INDICATOR, 1, "")] * self.has_missing]

    def transform(self, cells: pa.ChunkedArray) -> list[Matrix]:
        """Return one matrix (rows, columns) for every part."""
        values = self.parser.parse(cells)
        return [self.scaling.transform(values)[:, None], *_gaps(values, self.has_missing)]

    def describe(self, columns: Matrix) -> list[str]:
        """Return numbers with four digits."""
        return [
            _four_digits(value) for value in self.scaling.inverse_transform(columns[:, 0]).tolist()
        ]


@dataclass(frozen=True)
class DatetimeEncoder:
    """Times as a number; their place in the day and in the week, where it varies, as a circle."""

    parser: DatetimeParser
    scaling: NumberScaling
    cycles: tuple[str, ...]
    has_missing: bool

    @classmethod
    def fit(cls, cells: pa.ChunkedArray, scaling: str) -> Self:
        """Learn from the cells of the training table."""
        parser = DatetimeParser.fit(cells)
        values = parser.parse(cells)
        known = values[~np.isnan(values)]
        cycles = [
            name
            for name, length in CYCLES.items()
            if len(np.unique(known // DAY if length == WEEK else known % length)) > 1
            and np.ptp(known) >= length
        ]
        has_missing = bool(np.isnan(values).any())
        return cls(parser, fit_scaling(scaling, values), tuple(cycles), has_missing)

    @property
    def parts(self) -> list[tuple[Kind, int, str]]:
        """Kind, number of columns and name of every part."""
        number: list[tuple[Kind, int, str]] = [(Kind.NUMERIC, 1, "")]
        for name in self.cycles:
            number += [(Kind.NUMERIC, 1, f"{name}, {side}") for side in ("sine", "cosine")]
        return [*number, *[(Kind.MISSING_INDICATOR, 1, "")] * self.has_missing]

    def transform(self, cells: pa.ChunkedArray) -> list[Matrix]:
        """Return one matrix (rows, columns) for every part."""
        values = self.parser.parse(cells)
        parts = [self.scaling.transform(values)[:, None]]
        for name in self.cycles:
            angle = 2 * math.pi * (values % CYCLES[name]) / CYCLES[name]
            parts += [np.sin(angle)[:, None], np.cos(angle)[:, None]]
        return [*parts, *_gaps(values, self.has_missing)]

    def describe(self, columns: Matrix) -> list[str]:
        """Return times to the minute, or to the day where they spread over many."""
        seconds = self.scaling.inverse_transform(columns[:, 0])
        moments = (seconds * 1e6).astype("datetime64[us]")
        unit = "D" if self.scaling.width > DAY else "m"
        said = [str(moment.astype(f"datetime64[{unit}]")).replace("T", " ") for moment in moments]
        return [text.split(" ")[-1] for text in said] if self.parser.form == CLOCK else said


@dataclass(frozen=True)
class CategoryEncoder:
    """A column for every common level; rarer ones share columns with those about as rare.

    Missing is a level like others. A level that was never seen counts with the rarest.

    Parameters
    ----------
    parser : CategoryParser
    categories : tuple of str
        Levels with a column of their own.
    frequency_bins : dict of str to int
        The other levels, and the band that each of them is in; band 0 is the rarest, and
        exists even if nothing is in it.
    n_frequency_bins : int
    """

    parser: CategoryParser
    categories: tuple[str, ...]
    frequency_bins: Mapping[str, int]
    n_frequency_bins: int

    @classmethod
    def fit(cls, cells: pa.ChunkedArray, *, are_truths: bool = False) -> Self:
        """Learn from the cells of the training table."""
        parser = CategoryParser.fit(cells) if are_truths else CategoryParser()
        counted = pc.value_counts(pc.fill_null(parser.parse(cells), MISSING))
        counts = dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(),
                          strict=True))  # fmt: skip
        common = sorted(counts, key=lambda level: (-counts[level], level))
        own, rare = common[:MAX_CATEGORIES], common[MAX_CATEGORIES:]
        bands = {level: int(math.log(counts[level], FREQUENCY_BIN_BASE)) for level in rare}
        return cls(parser, tuple(own), bands, 1 + max(bands.values(), default=0))

    @property
    def parts(self) -> list[tuple[Kind, int, str]]:
        """Kind, number of columns and name of every part."""
        return [(Kind.CATEGORICAL, len(self.categories) + self.n_frequency_bins, "")]

    @property
    def names(self) -> list[str]:
        """What each column of the part stands for."""
        bounds = [
            int(FREQUENCY_BIN_BASE ** (band + 1)) - 1 for band in range(self.n_frequency_bins)
        ]
        return [*self.categories, *(f"(one seen at most {bound:,} times)" for bound in bounds)]

    def parse(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return levels, those of missing cells too."""
        return pc.fill_null(self.parser.parse(cells), MISSING)

    def transform(self, cells: pa.ChunkedArray) -> list[Matrix]:
        """Return one matrix (rows, columns) for every part."""
        places = {level: at for at, level in enumerate(self.categories)}
        places |= {
            level: len(self.categories) + band for level, band in self.frequency_bins.items()
        }
        encoded = pc.dictionary_encode(self.parse(cells)).combine_chunks()
        unknown = len(self.categories)  # the rarest band
        known = np.array([places.get(level, unknown) for level in encoded.dictionary.to_pylist()])
        where = known[np.asarray(encoded.indices)] if len(encoded) else np.zeros(0, np.int64)
        block = np.zeros((len(encoded), len(self.categories) + self.n_frequency_bins))
        block[np.arange(len(encoded)), where] = 1.0
        return [block]

    def describe(self, columns: Matrix) -> list[str]:
        """Return the names of levels."""
        return [self.names[place] for place in columns.argmax(axis=1).tolist()]


def _four_digits(value: float) -> str:
    """Write a number as a person would, without an exponent unless it is huge.

    >>> _four_digits(52962.7), _four_digits(0.012345), _four_digits(3e20)
    ('52960', '0.01235', '3e+20')
    """
    rounded = float(f"{value:.4g}")
    return f"{rounded:.0f}" if 1e4 <= abs(rounded) < HUGE else f"{rounded:.4g}"


def _gaps(values: Matrix, wanted: bool) -> list[Matrix]:
    return [np.isnan(values)[:, None].astype(np.float64)] if wanted else []


@dataclass(frozen=True)
class TableEncoder:
    """Turns tables with the columns of the training table into matrices of numbers.

    Parameters
    ----------
    facts : tuple of ColumnFacts
        All columns of the training table and their roles.
    encoders : dict of str to ColumnEncoder
        Those of the columns that are looked at, in their order.

    Examples
    --------
    >>> from imboost.tables.roles import find_roles
    >>> table = pa.table({"size": [1.0, 2.0, None, 4.0], "colour": ["red", "red", "blue", "red"]})
    >>> encoder = TableEncoder.fit(table, find_roles(table), scaling="minmax")
    >>> encoder.transform(table).shape, [feature.source for feature in encoder.layout.features]
    ((4, 5), ['size', 'size', 'colour'])
    """

    facts: tuple[ColumnFacts, ...]
    encoders: Mapping[str, ColumnEncoder]

    @classmethod
    def fit(cls, table: pa.Table, facts: Sequence[ColumnFacts], scaling: str = "robust") -> Self:
        """Learn from a table how to encode its columns by their roles."""
        encoders: dict[str, ColumnEncoder] = {}
        decimal_commas = has_decimal_commas(table)
        for fact in facts:
            cells = table.column(fact.name)
            if fact.role == Role.NUMERIC:
                encoders[fact.name] = NumberEncoder.fit(
                    cells, scaling, decimal_commas=decimal_commas
                )
            elif fact.role == Role.DATETIME:
                encoders[fact.name] = DatetimeEncoder.fit(cells, scaling)
            elif fact.role in (Role.CATEGORICAL, Role.BOOLEAN):
                encoders[fact.name] = CategoryEncoder.fit(
                    cells, are_truths=fact.role == Role.BOOLEAN
                )
        return cls(tuple(facts), encoders)

    @property
    def layout(self) -> Layout:
        """Which columns of the matrix belong to which column of the table."""
        features, start = [], 0
        for kind in Kind:
            for source, encoder in self.encoders.items():
                for part_kind, width, part in encoder.parts:
                    if part_kind == kind:
                        features.append(Feature(source, kind, start, start + width, part))
                        start += width
        return Layout(tuple(features))

    def transform(self, table: pa.Table, where: str = "The table") -> Matrix:
        """Return the matrix (rows, columns of the layout) of a table; others' order is free.

        Raises
        ------
        DataError
            If columns are missing or extra, naming them. Columns that are not looked at may
            be missing.
        """
        unused = [fact.name for fact in self.facts if not fact.role.is_feature]
        expected = [*self.encoders, *(name for name in unused if name in table.column_names)]
        check_columns(table.column_names, expected, where, instead="fit again")
        parts: dict[Kind, list[Matrix]] = {kind: [] for kind in Kind}
        for source, encoder in self.encoders.items():
            encoded = encoder.transform(table.column(source))
            for (kind, _, _), part in zip(encoder.parts, encoded, strict=True):
                parts[kind].append(part)
        return np.hstack([part for kind in Kind for part in parts[kind]])
