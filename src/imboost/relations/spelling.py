"""Spellings: a value that is written in another way than usual."""

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
from imboost.relations.spelling_search import find_variants


@dataclass(frozen=True, kw_only=True)
class SpellingRelation(Relation):
    """Values of a column that are other spellings of more common ones.

    >>> rule = SpellingRelation(
    ...     columns=("city",), support=0.99, variants=("Bonnn",), values=("Bonn",)
    ... )
    >>> rule.expected({"city": pa.chunked_array([["Bonnn"]])}).to_pylist()
    ['Bonn']
    """

    variants: tuple[str, ...]
    values: tuple[str, ...]  # the right spelling of each variant

    kind: ClassVar[RuleKind] = RuleKind.SPELLING

    def residual(self, parsed: Parsed) -> Floats:
        """Return 1 where the cell is another spelling of a common value, otherwise 0."""
        if not self.is_applicable(parsed):
            return np.zeros(n_rows(parsed))
        return np.asarray(self.expected(parsed).is_valid().to_numpy(), dtype=np.float64)

    def expected(self, parsed: Parsed) -> Any:
        """Return the right spelling, null where the cell is not known to be wrong."""
        if not self.is_applicable(parsed):
            return pa.chunked_array([pa.nulls(n_rows(parsed), pa.string())])
        known, values = self._arrays
        index = pc.index_in(pa.chunked_array(parsed[self.target]), known)
        return pa.chunked_array([values.take(index.combine_chunks())])

    @cached_property
    def _arrays(self) -> tuple[pa.Array, pa.Array]:
        return pa.array(self.variants, pa.string()), pa.array(self.values, pa.string())


def find_spelling_relations(parsed: Parsed) -> list[SpellingRelation]:
    """Return one relation for each column of categories that has other spellings."""
    found = []
    for name, values in parsed.items():
        if isinstance(values, np.ndarray):
            continue
        counted = pc.value_counts(values.drop_null()).to_pylist()
        counts = {one["values"]: one["counts"] for one in counted}
        if right := find_variants(counts):
            n_wrong = sum(counts[variant] for variant in right)
            found.append(
                SpellingRelation(
                    columns=(name,),
                    support=1 - n_wrong / max(sum(counts.values()), 1),
                    variants=tuple(right),
                    values=tuple(right.values()),
                )
            )
    return found
