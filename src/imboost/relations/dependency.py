"""Functional dependencies: one column decides another, as a city decides its state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats
from imboost.facts import RuleKind
from imboost.relations.relation import Parsed, Relation, n_rows
from imboost.tables.category_parser import to_categories

SEPARATOR = "\x1f"  # between the values of two deciding columns


@dataclass(frozen=True, kw_only=True)
class DependencyRelation(Relation):
    """The second column, or the second and the third, decide the first.

    >>> rule = DependencyRelation(
    ...     columns=("state", "city"), support=1.0, determinants=("Fresno",), values=("CA",)
    ... )
    >>> cells = {"state": pa.chunked_array([["NV"]]), "city": pa.chunked_array([["Fresno"]])}
    >>> rule.expected(cells).to_pylist()
    ['CA']
    """

    determinants: tuple[str, ...]  # values of the deciding columns, joined by `SEPARATOR`
    values: tuple[str, ...]  # of the first column, one for each determinant

    kind: ClassVar[RuleKind] = RuleKind.DEPENDENCY

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
        index = pc.index_in(self._keys(parsed), known)
        return pa.chunked_array([values.take(index.combine_chunks())])

    def _keys(self, parsed: Parsed) -> pa.ChunkedArray:
        """Return the values of the deciding columns; null where one is missing."""
        first, *others = (as_text(parsed[name]) for name in self.columns[1:])
        for other in others:
            first = pc.binary_join_element_wise(first, other, SEPARATOR)
        return first

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
