"""Encoders of tables and of columns: from parsed cells to the matrix of a detector."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from imboost.facts import Cell, RareCategories
from imboost.tables.cells import value_counts
from imboost.tables.datetime_parser import DatetimeParser
from imboost.tables.layout import Feature, Kind, Layout
from imboost.tables.number_scaling import NumberScaling, fit_scaling
from imboost.tables.parsers import NumberParser
from imboost.tables.schema import ParsedColumns, Schema

LARGEST = 1e30  # numbers are clipped to it, so that they are finite in single precision
MAX_CATEGORIES = 50  # number of categories, the most common ones, with a column of their own
FREQUENCY_BIN_BASE = 4  # rarer categories share a column by frequency; bin edges are its powers
MISSING = "(missing)"
DAY, WEEK = 86_400.0, 7 * 86_400.0  # seconds
CYCLES = {"time of day": DAY, "day of the week": WEEK}  # periods encoded as sine and cosine

Matrix = NDArray[Any]
Block = tuple[Kind, int, str]  # adjacent columns of the matrix: their kind, number and name


@dataclass(frozen=True)
class TableEncoder:
    """Encodes parsed tables as matrices, one encoder for each column that is used for scoring.

    >>> import pyarrow as pa
    >>> table = pa.table({"size": [1.0, 2.0, None, 4.0], "colour": ["red", "red", "blue", "red"]})
    >>> schema, parsed = Schema.fit_parse(table)
    >>> encoder = TableEncoder.fit(schema, parsed, scaling="minmax")
    >>> encoder.transform(parsed).shape, [feature.source for feature in encoder.layout.features]
    ((4, 5), ['size', 'size', 'colour'])
    """

    encoders: Mapping[str, ColumnEncoder]

    @classmethod
    def fit(cls, schema: Schema, parsed: ParsedColumns, scaling: str = "robust") -> Self:
        """Fit an encoder to every parsed column of the training table."""
        encoders: dict[str, ColumnEncoder] = {}
        for name, parser in schema.parsers.items():
            if isinstance(parser, NumberParser):
                encoders[name] = NumberEncoder.fit(parsed[name], scaling)
            elif isinstance(parser, DatetimeParser):
                encoders[name] = DatetimeEncoder.fit(parsed[name], scaling)
            else:
                encoders[name] = CategoryEncoder.fit(parsed[name])
        return cls(encoders)

    @property
    def layout(self) -> Layout:
        """The features of the matrix, each with its input column."""
        features, start = [], 0
        for kind in Kind:
            for name, encoder in self.encoders.items():
                for block_kind, width, part in encoder.blocks:
                    if block_kind == kind:
                        features.append(Feature(name, kind, start, start + width, part))
                        start += width
        return Layout(tuple(features))

    def transform(self, parsed: ParsedColumns, n_more: int = 0) -> NDArray[np.float32]:
        """Return the matrix (rows, columns of the layout) of a parsed table.

        `n_more` columns of zeros follow.
        """
        layout = self.layout
        n_rows = len(next(iter(parsed.values())))
        matrix = np.zeros((n_rows, layout.n_columns + n_more), dtype=np.float32)
        features = defaultdict(list)
        for feature in layout.features:
            features[feature.source].append(feature)
        for name, encoder in self.encoders.items():
            blocks = encoder.transform(parsed[name])  # in the order of the kinds
            for feature, block in zip(features[name], blocks, strict=True):
                is_number = feature.kind == Kind.NUMERIC
                matrix[:, feature.columns] = (
                    np.clip(block, -LARGEST, LARGEST) if is_number else block
                )
        return matrix


@dataclass(frozen=True)
class NumberEncoder:
    """Scaled numbers, with a missing indicator if training cells were missing."""

    scaling: NumberScaling
    has_missing: bool

    @classmethod
    def fit(cls, values: Matrix, scaling: str) -> Self:
        """Fit the scaling to training values of shape (rows,)."""
        return cls(fit_scaling(scaling, values), bool(np.isnan(values).any()))

    @property
    def blocks(self) -> list[Block]:
        """Blocks of the matrix that encode the column."""
        return [(Kind.NUMERIC, 1, ""), *[(Kind.MISSING_INDICATOR, 1, "")] * self.has_missing]

    def transform(self, values: Matrix) -> list[Matrix]:
        """Return one matrix (rows, columns) for every block."""
        return _columns(self.scaling.transform(values), *[np.isnan(values)] * self.has_missing)

    def cells(self, values: Matrix) -> list[Cell]:
        """Return parsed values; None where missing."""
        return [None if np.isnan(value) else value for value in values.tolist()]

    def decode(self, columns: Matrix) -> list[Cell]:
        """Return the values of encoded rows."""
        return list(self.scaling.inverse_transform(columns[:, 0]).tolist())


@dataclass(frozen=True)
class DatetimeEncoder:
    """Datetimes as a scaled number, and as sine and cosine of the cycles in which they vary."""

    scaling: NumberScaling  # scaling of seconds since 1970
    cycles: tuple[str, ...]  # names in `CYCLES`
    has_missing: bool
    is_clock: bool = False  # whether the column holds times of day without a date

    @classmethod
    def fit(cls, values: Matrix, scaling: str) -> Self:
        """Fit the scaling to training values of shape (rows,) and find the cycles."""
        known = values[~np.isnan(values)]
        cycles = tuple(
            name
            for name, length in CYCLES.items()
            if len(np.unique(known // DAY if length == WEEK else known % length)) > 1
            and np.ptp(known) >= length
        )
        is_clock = bool(known.min() >= 0 and known.max() < DAY)
        scaling = "robust" if scaling == "log" else scaling  # 1970 is no origin of ratios
        return cls(fit_scaling(scaling, values), cycles, len(known) < len(values), is_clock)

    @property
    def blocks(self) -> list[Block]:
        """Blocks of the matrix that encode the column."""
        names = ["", *(f"{name}, {wave}" for name in self.cycles for wave in ("sine", "cosine"))]
        indicator: list[Block] = [(Kind.MISSING_INDICATOR, 1, "")] * self.has_missing
        return [*((Kind.NUMERIC, 1, name) for name in names), *indicator]

    def transform(self, values: Matrix) -> list[Matrix]:
        """Return one matrix (rows, columns) for every block."""
        angles = [2 * math.pi * (values % CYCLES[name]) / CYCLES[name] for name in self.cycles]
        waves = [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
        missing = [np.isnan(values)] * self.has_missing
        return _columns(self.scaling.transform(values), *waves, *missing)

    def cells(self, values: Matrix) -> list[Cell]:
        """Return parsed values to the second; None where missing."""
        return self._moments(values, "s")

    def decode(self, columns: Matrix) -> list[Cell]:
        """Return the datetimes of encoded rows, to the day if the column spans many days."""
        seconds = self.scaling.inverse_transform(columns[:, 0])
        return self._moments(seconds, "D" if self.scaling.scale > DAY else "m")

    def _moments(self, seconds: Matrix, unit: str) -> list[Cell]:
        seconds = seconds % DAY if self.is_clock else seconds
        moments = (seconds * 1e6).astype("datetime64[us]").astype(f"datetime64[{unit}]")
        cells = [None if np.isnat(moment) else moment for moment in moments]
        return [cell.item().time() if cell and self.is_clock else cell for cell in cells]


@dataclass(frozen=True)
class CategoryEncoder:
    """One-hot encoding in which rare categories share columns with equally rare ones.

    A missing cell is a category of its own. A category that did not occur in training is treated
    as one of the rarest.
    """

    categories: tuple[str, ...]  # categories with a column of their own
    frequency_bins: Mapping[str, int]  # bins of other categories; 0, the rarest, may be empty
    n_frequency_bins: int

    def __post_init__(self) -> None:
        """Raise if a category is no text, as in a model folder that was edited."""
        if not all(isinstance(name, str) for name in (*self.categories, *self.frequency_bins)):
            raise ValueError("a category is not a text")

    @classmethod
    def fit(cls, values: pa.ChunkedArray) -> Self:
        """Count the categories of the training table."""
        counts = value_counts(pc.fill_null(values, MISSING))
        ordered = sorted(counts, key=lambda category: (-counts[category], category))
        bins = {
            category: int(math.log(counts[category], FREQUENCY_BIN_BASE))
            for category in ordered[MAX_CATEGORIES:]
        }
        return cls(tuple(ordered[:MAX_CATEGORIES]), bins, 1 + max(bins.values(), default=0))

    @property
    def blocks(self) -> list[Block]:
        """Blocks of the matrix that encode the column."""
        return [(Kind.CATEGORICAL, len(self.categories) + self.n_frequency_bins, "")]

    @cached_property
    def column_of_category(self) -> dict[str, int]:
        """The column of every category of the training table."""
        columns = {category: column for column, category in enumerate(self.categories)}
        n_own = len(self.categories)
        return columns | {name: n_own + bin_ for name, bin_ in self.frequency_bins.items()}

    @cached_property
    def known_categories(self) -> pa.Array:
        """All categories of the training table."""
        return pa.array([*self.categories, *self.frequency_bins])

    def transform(self, values: pa.ChunkedArray) -> list[Matrix]:
        """Return one matrix (rows, columns) for every block."""
        columns, rarest = self.column_of_category, len(self.categories)
        encoded = pc.dictionary_encode(pc.fill_null(values, MISSING)).combine_chunks()
        known = [columns.get(category, rarest) for category in encoded.dictionary.to_pylist()]
        one_hot = np.eye(rarest + self.n_frequency_bins, dtype=np.float32)
        return [one_hot[np.array(known, dtype=np.int64)[np.asarray(encoded.indices)]]]

    def cells(self, values: pa.ChunkedArray) -> list[Cell]:
        """Return parsed values; None where missing."""
        return list(values.to_pylist())

    def decode(self, columns: Matrix) -> list[Cell]:
        """Return the categories of encoded rows."""
        bounds = [FREQUENCY_BIN_BASE ** (bin_ + 1) - 1 for bin_ in range(self.n_frequency_bins)]
        names = [*self.categories, *map(RareCategories, bounds)]
        return [names[column] for column in columns.argmax(axis=1).tolist()]


ColumnEncoder = NumberEncoder | DatetimeEncoder | CategoryEncoder


def _columns(*arrays: NDArray[Any]) -> list[Matrix]:
    """Return arrays of shape (rows,) as matrices of shape (rows, 1)."""
    return [array[:, None].astype(np.float64) for array in arrays]
