"""Which columns of a number matrix belong together, and what they say of a table's column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Kind(StrEnum):
    """What the numbers of a feature are."""

    NUMERIC = "numeric"
    """One column of numbers; a missing one is nan."""
    MISSING_INDICATOR = "missing_indicator"
    """One column, 1 where the table's cell was missing."""
    CATEGORICAL = "categorical"
    """One column for every level, 1 in that of the row's level and 0 in the others."""


@dataclass(frozen=True)
class Feature:
    """Neighbouring columns of the matrix that come from one column of the table.

    Parameters
    ----------
    source : str
        The table's column.
    kind : Kind
        What the numbers are.
    start, stop : int
        Where they stand in the matrix.
    part : str
        What of the source it is, where there are several features of one kind.
    """

    source: str
    kind: Kind
    start: int
    stop: int
    part: str = ""

    @property
    def columns(self) -> slice:
        """Where the feature stands in the matrix."""
        return slice(self.start, self.stop)


@dataclass(frozen=True)
class Layout:
    """The features of a matrix, in the order of its columns: numbers, then gaps, then categories.

    Examples
    --------
    >>> layout = Layout.of_numbers(["height", "weight"])
    >>> layout.n_columns, layout.sources
    (2, ['height', 'weight'])
    """

    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        """Refuse features that leave columns out or stand in another order."""
        end, order = 0, list(Kind)
        kinds = [order.index(feature.kind) for feature in self.features]
        for feature in self.features:
            if feature.start != end or feature.stop <= end:
                raise ValueError("The features of a layout must follow each other without a gap.")
            end = feature.stop
        if kinds != sorted(kinds):
            raise ValueError("A layout must hold numbers first, then gaps, then categories.")

    @classmethod
    def of_numbers(cls, names: list[str]) -> Layout:
        """Return the layout of a plain matrix of numbers."""
        return cls(tuple(Feature(name, Kind.NUMERIC, at, at + 1) for at, name in enumerate(names)))

    @property
    def n_columns(self) -> int:
        """Columns of the matrix."""
        return self.features[-1].stop if self.features else 0

    @property
    def sources(self) -> list[str]:
        """The table's columns, each once."""
        return list(dict.fromkeys(feature.source for feature in self.features))

    def of_kind(self, kind: Kind) -> Iterator[Feature]:
        """Return the features of one kind."""
        return (feature for feature in self.features if feature.kind == kind)

    def n_of_kind(self, kind: Kind) -> int:
        """Columns of the matrix that features of one kind have."""
        return sum(feature.stop - feature.start for feature in self.of_kind(kind))

    def source_of_columns(self) -> NDArray[np.int64]:
        """Return for every column of the matrix the position of its source in `sources`."""
        place = {source: at for at, source in enumerate(self.sources)}
        owners = np.empty(self.n_columns, dtype=np.int64)
        for feature in self.features:
            owners[feature.columns] = place[feature.source]
        return owners
