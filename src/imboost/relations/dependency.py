"""Functional dependencies: one column decides another, as a city decides its state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.relations.relation import Floats, Parsed, Relation, n_rows
from imboost.tables.category_parser import to_categories


@dataclass(frozen=True, kw_only=True)
class DependencyRelation(Relation):
    """The second column decides the first.

    >>> rule = DependencyRelation(
    ...     columns=("state", "city"), support=1.0, determinants=("Fresno",), values=("CA",)
    ... )
    >>> cells = {"state": pa.chunked_array([["NV"]]), "city": pa.chunked_array([["Fresno"]])}
    >>> rule.describe(cells, 0)
    'state should be CA, as in other rows with city Fresno'
    """

    determinants: tuple[str, ...]  # values of the second column that decide the first
    values: tuple[str, ...]  # of the first column, one for each determinant

    kind: ClassVar[str] = "dependency"

    def residual(self, parsed: Parsed) -> Floats:
        """Return 1 where the target has another value, otherwise 0."""
        if not self.is_applicable(parsed):
            return np.zeros(n_rows(parsed))
        differs = pc.not_equal(as_text(parsed[self.target]), self.expected(parsed))
        return np.asarray(pc.fill_null(differs, False).to_numpy(), dtype=np.float64)

    def expected(self, parsed: Parsed) -> Any:
        """Return the target's text by the rule, null where the rule does not know it."""
        if not self.is_applicable(parsed):
            return pa.chunked_array([pa.nulls(n_rows(parsed), pa.string())])
        known, values = self._arrays
        index = pc.index_in(as_text(parsed[self.columns[1]]), known)
        return pa.chunked_array([values.take(index.combine_chunks())])

    def describe(self, parsed: Parsed, row: int) -> str:
        """Say what the target of a row should be, and why."""
        value = self.expected(parsed)[row].as_py()
        determinant = as_text(parsed[self.columns[1]])[row].as_py()
        return (
            f"{self.target} should be {value}, as in other rows with {self.columns[1]} "
            f"{determinant}"
        )

    @cached_property
    def _arrays(self) -> tuple[pa.Array, pa.Array]:
        return pa.array(self.determinants, pa.string()), pa.array(self.values, pa.string())


def as_text(values: Any) -> pa.ChunkedArray:
    """Return parsed cells as text, null where they are missing.

    >>> as_text(np.array([1.0, np.nan])).to_pylist()
    ['1', None]
    """
    if isinstance(values, np.ndarray):
        return to_categories(pa.chunked_array([pa.array(values, from_pandas=True)]))
    return values
