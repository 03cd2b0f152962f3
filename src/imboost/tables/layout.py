"""The layout of an encoded matrix: which of its columns encode which column of the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from imboost.arrays import Indices


class Kind(StrEnum):
    """How a feature encodes a column."""

    NUMERIC = "numeric"  # one column of numbers; nan where missing
    MISSING_INDICATOR = "missing_indicator"  # one column; 1 where the cell is missing
    CATEGORICAL = "categorical"  # one-hot columns, one for each category
    RULE = "rule"  # one column; 1 where the cell breaks a rule of other rows


@dataclass(frozen=True)
class Feature:
    """Adjacent columns of the matrix, from `start` to `stop`, that encode one input column."""

    source: str  # name of the input column, a column of the table
    kind: Kind
    start: int
    stop: int
    part: str = ""  # name of the feature, if its input column has several of one kind

    @property
    def columns(self) -> slice:
        """The columns of the matrix."""
        return slice(self.start, self.stop)


@dataclass(frozen=True)
class Layout:
    """The features of a matrix, in its order: numeric, missing indicators, categorical, rules.

    >>> layout = Layout.of_numbers(["height", "weight"])
    >>> layout.n_columns, layout.sources
    (2, ['height', 'weight'])
    """

    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        """Raise if features overlap, leave columns out or are not ordered by kind."""
        end, order = 0, list(Kind)
        kinds = [order.index(feature.kind) for feature in self.features]
        for feature in self.features:
            if feature.start != end or feature.stop <= end:
                raise ValueError("The features of a layout must be adjacent, from column 0 on.")
            end = feature.stop
        if kinds != sorted(kinds):
            raise ValueError("The features of a layout must be ordered by kind.")

    @classmethod
    def of_numbers(cls, names: list[str]) -> Layout:
        """Return the layout of a plain matrix of numbers."""
        return cls(tuple(Feature(name, Kind.NUMERIC, at, at + 1) for at, name in enumerate(names)))

    @property
    def n_columns(self) -> int:
        """Number of columns of the matrix."""
        return self.features[-1].stop if self.features else 0

    @property
    def sources(self) -> list[str]:
        """Names of the input columns, in order of first appearance."""
        return list(dict.fromkeys(feature.source for feature in self.features))

    def of_kind(self, kind: Kind) -> Iterator[Feature]:
        """Return the features of one kind."""
        return (feature for feature in self.features if feature.kind == kind)

    def n_of_kind(self, kind: Kind) -> int:
        """Return the number of matrix columns of one kind."""
        return sum(feature.stop - feature.start for feature in self.of_kind(kind))

    def source_of_columns(self) -> Indices:
        """Return the position in `sources` of the input column of every column of the matrix."""
        position = {source: number for number, source in enumerate(self.sources)}
        owners = np.empty(self.n_columns, dtype=np.int64)
        for feature in self.features:
            owners[feature.columns] = position[feature.source]
        return owners
