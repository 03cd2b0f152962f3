"""Whether a relation holds, and whether it would hold by chance."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from imboost.arrays import Floats, Indices, Mask
from imboost.relations.relation import Parsed, Relation, n_rows, take_rows

MIN_SUPPORT = 0.98  # share of rows in which a relation holds
BROKEN_BY_COLUMN = 0.01  # share of rows that each further column of a relation may break
MIN_SUPPORT_OF_MANY = 0.95  # support of relations of many columns
SAMPLING_ERROR = 0.015  # by which the support in a sample may be lower
MIN_ROWS = 30  # rows with all cells known that are needed
MIN_INFORMATIVE = 15  # rows that obey a relation, but not with the cells of a column shuffled
MIN_UNUSUAL_SUPPORT = 0.8  # share of the rows without the most common cell that obey it
SAMPLE_ROWS = 4000  # rows of the sample
NEARLY_CONSTANT = 0.98  # columns with a larger share of equal cells take part in no relation

R = TypeVar("R", bound=Relation)


class Evidence:
    """Checks relations on the rows of a table, on a sample first."""

    def __init__(self, parsed: Parsed, rng: np.random.Generator) -> None:
        self.parsed = parsed
        self.rng = rng
        n = n_rows(parsed)
        self.rows = np.sort(rng.permutation(n)[:SAMPLE_ROWS])
        self.sample = take_rows(parsed, self.rows)
        self._unusual: dict[str, Mask] = {}
        self._permutation = rng.permutation(len(self.rows))

    def check(
        self, relation: R, *, min_support: float | None = None, min_informative: float = 0.0
    ) -> R | None:
        """Return the relation with its support, or None if it does not hold or says nothing.

        The more columns a relation has, the more wrong cells break it, which the default of
        `min_support` allows. With the cells of any of its columns shuffled, at least the share
        `min_informative` of the rows must no longer obey it.
        """
        if min_support is None:
            n_more = len(relation.columns) - 2
            min_support = max(MIN_SUPPORT - BROKEN_BY_COLUMN * n_more, MIN_SUPPORT_OF_MANY)
        least = least_support(min_support - SAMPLING_ERROR, self.sample)
        if support(relation, self.sample) < least:
            return None
        if not self._is_informative(relation, min_informative):
            return None
        found = support(relation, self.parsed)
        is_supported = found >= least_support(min_support, self.parsed)
        return dataclasses.replace(relation, support=found) if is_supported else None

    def _is_informative(self, relation: Relation, min_share: float) -> bool:
        """Whether the relation would fail in many rows if a column was shuffled."""
        holds, known = relation.holds(self.sample), are_known(self.sample, relation.columns)
        if known.sum() < MIN_ROWS:
            return False
        for name in relation.columns:
            shuffled = take_rows({name: self.sample[name]}, self._permutation)
            n_for = int((known & holds & ~relation.holds({**self.sample, **shuffled})).sum())
            if n_for < max(MIN_INFORMATIVE, min_share * known.sum()):
                return False
            if holds[known & self._is_unusual(name)].mean() < MIN_UNUSUAL_SUPPORT:
                return False
        return True

    def _is_unusual(self, name: str) -> Mask:
        """Return which cells of the sample differ from the most common one."""
        if name not in self._unusual:
            codes = codes_of(self.sample[name])
            self._unusual[name] = codes != np.bincount(codes[codes >= 0]).argmax()
        return self._unusual[name]

    def screened(self, names: list[str], n_rows: int) -> Floats:
        """Return columns of numbers in evenly spread rows of the sample, as a matrix."""
        if not names:
            return np.zeros((0, 0))
        X = numeric_matrix(self.sample, names)
        return X[np.linspace(0, len(X) - 1, min(len(X), n_rows)).astype(np.int64)]


def support(relation: Relation, parsed: Parsed) -> float:
    """Return the share of rows with all cells known in which a relation holds."""
    known = are_known(parsed, relation.columns)
    return float(relation.holds(parsed)[known].mean()) if known.any() else 0.0


def least_support(share: float, parsed: Parsed) -> float:
    """Return the support that is needed; in small tables, one row may break a relation.

    >>> least_support(0.98, {"a": np.zeros(1000)}), least_support(0.98, {"a": np.zeros(50)})
    (0.98, 0.97)
    """
    return min(share, 1 - 1.5 / max(n_rows(parsed), 1))


def are_known(parsed: Parsed, columns: tuple[str, ...]) -> Mask:
    """Return in which rows none of the cells is missing."""
    known = np.ones(n_rows(parsed), dtype=bool)
    for name in columns:
        values = parsed[name]
        is_known = np.isfinite(values) if isinstance(values, np.ndarray) else values.is_valid()
        known &= np.asarray(is_known)
    return known


def codes_of(values: Any) -> Indices:
    """Return parsed cells as integers, equal for equal cells and -1 where they are missing."""
    if isinstance(values, np.ndarray):
        values = pa.chunked_array([pa.array(values, from_pandas=True)])
    indices = pa.chunked_array(values).combine_chunks().dictionary_encode().indices
    return np.asarray(indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def varying(parsed: Parsed, names: list[str]) -> list[str]:
    """Return the columns that are neither nearly constant nor nearly empty."""
    counts = {name: np.bincount(codes_of(parsed[name]) + 1)[1:] for name in names}
    return [
        name
        for name, n in counts.items()
        if n.sum() >= MIN_ROWS and n.max() <= NEARLY_CONSTANT * n.sum()
    ]


def numeric_matrix(parsed: Parsed, names: Sequence[str]) -> Floats:
    """Return columns of numbers as a matrix of shape (rows, columns)."""
    return np.column_stack([np.asarray(parsed[name], dtype=np.float64) for name in names])
