"""The layout of an encoded matrix: which of its columns come from which column of the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Kind(StrEnum):
    """How a feature encodes a column."""

    NUMERIC = "numeric"
    """One column of numbers; nan where missing."""
    MISSING_INDICATOR = "missing_indicator"
    """One column; 1 where the cell is missing."""
    CATEGORICAL = "categorical"
    """One-hot columns, one for each category."""


@dataclass(frozen=True)
class Feature:
    """Neighbouring columns of the matrix that come from one column of the table.

    Parameters
    ----------
    source : str
        Name of the table's column.
    kind : Kind
    start, stop : int
        Their range in the matrix.
    part : str
        Name of the feature, if the source has several of one kind.
    """

    source: str
    kind: Kind
    start: int
    stop: int
    part: str = ""

    @property
    def columns(self) -> slice:
        """The columns of the matrix."""
        return slice(self.start, self.stop)


@dataclass(frozen=True)
class Layout:
    """The features of a matrix, in its order: numeric, missing indicators, categorical.

    Examples
    --------
    >>> layout = Layout.of_numbers(["height", "weight"])
    >>> layout.n_columns, layout.sources
    (2, ['height', 'weight'])
    """

    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        """Refuse features that leave columns out or are in another order."""
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
        """Names of the table's columns, in order of first appearance."""
        return list(dict.fromkeys(feature.source for feature in self.features))

    def of_kind(self, kind: Kind) -> Iterator[Feature]:
        """Return the features of one kind."""
        return (feature for feature in self.features if feature.kind == kind)

    def n_of_kind(self, kind: Kind) -> int:
        """Return the number of matrix columns of one kind."""
        return sum(feature.stop - feature.start for feature in self.of_kind(kind))

    def source_of_columns(self) -> NDArray[np.int64]:
        """Return for every column of the matrix the position of its source in `sources`."""
        position = {source: number for number, source in enumerate(self.sources)}
        owners = np.empty(self.n_columns, dtype=np.int64)
        for feature in self.features:
            owners[feature.columns] = position[feature.source]
        return owners
