"""Formats of codes, such as AA-9999."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats
from imboost.facts import RuleKind
from imboost.relations.relation import Parsed, Relation, n_rows


@dataclass(frozen=True, kw_only=True)
class FormatRelation(Relation):
    """All codes of a column have one pattern of letters, digits and signs.

    >>> rule = FormatRelation(columns=("code",), support=1.0, pattern="AA-99", has_lengths=True)
    >>> rule.holds({"code": pa.chunked_array([["DE-12", "D-123", None]])}).tolist()
    [True, False, True]
    """

    pattern: str  # A for capital letters, a for small ones, 9 for digits
    has_lengths: bool  # otherwise one A, a or 9 stands for one or more

    kind: ClassVar[RuleKind] = RuleKind.FORMAT

    def formula(self) -> str:
        """Return the pattern."""
        return self.pattern

    def residual(self, parsed: Parsed) -> Floats:
        """Return 1 where a code has another pattern, otherwise 0."""
        if not self.is_applicable(parsed):
            return np.zeros(n_rows(parsed))
        differs = pc.not_equal(patterns(parsed[self.target], self.has_lengths), self.pattern)
        return np.asarray(pc.fill_null(differs, False).to_numpy(), dtype=np.float64)

    def expected(self, parsed: Parsed) -> Any:
        """Return nulls: a format does not know the code."""
        return pa.chunked_array([pa.nulls(n_rows(parsed), pa.string())])


def patterns(text: pa.ChunkedArray, has_lengths: bool) -> pa.ChunkedArray:
    """Return the pattern of each text.

    >>> patterns(pa.chunked_array([["Ab-1234"]]), True).to_pylist()
    ['Aa-9999']
    >>> patterns(pa.chunked_array([["ABC-1234"]]), False).to_pylist()
    ['A-9']
    """
    repeated = "" if has_lengths else "+"
    for letters, sign in ((r"\p{Lu}", "A"), (r"\p{Ll}", "a"), (r"\p{Nd}", "9")):
        text = pc.replace_substring_regex(text, letters + repeated, sign)
    return text
