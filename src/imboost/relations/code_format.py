"""Formats of codes, such as AA-9999."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Mask
from imboost.facts import RuleKind
from imboost.relations.evidence import MIN_ROWS, MIN_SUPPORT
from imboost.relations.relation import Parsed, Relation, n_rows
from imboost.tables.cells import value_counts

MIN_DISTINCT_CODES = 20  # codes from which a common pattern is no accident


@dataclass(frozen=True, kw_only=True)
class FormatRelation(Relation):
    """All codes of a column have one pattern of letters, digits and signs.

    >>> rule = FormatRelation(columns=("code",), pattern="AA-99", has_lengths=True)
    >>> rule.holds({"code": pa.chunked_array([["DE-12", "D-123", None]])}).tolist()
    [True, False, True]
    """

    pattern: str  # A for capital letters, a for small ones, 9 for digits
    has_lengths: bool  # otherwise one A, a or 9 stands for one or more

    kind: ClassVar[RuleKind] = RuleKind.FORMAT

    def formula(self) -> str:
        """Return the pattern."""
        return self.pattern

    def holds(self, parsed: Parsed) -> Mask:
        """Return in which rows the code has the pattern."""
        has_pattern = pc.equal(patterns(parsed[self.target], self.has_lengths), self.pattern)
        return np.asarray(pc.fill_null(has_pattern, True))

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


def find_formats(parsed: Parsed) -> Iterator[FormatRelation]:
    """Yield the formats of columns of codes that contain digits."""
    for name, values in parsed.items():
        if isinstance(values, np.ndarray):
            continue
        text = values.drop_null()
        if len(text) < MIN_ROWS or pc.count_distinct(text).as_py() < MIN_DISTINCT_CODES:
            continue
        for has_lengths in (True, False):
            counts = value_counts(patterns(text, has_lengths))
            pattern, n = max(counts.items(), key=lambda item: item[1])
            is_of_codes = "9" in pattern  # not of words
            if set(pattern) == {"9"}:  # numbers, unless some begin with 0
                is_of_codes = has_lengths and pc.any(pc.starts_with(text, "0")).as_py()
            if n / len(text) >= MIN_SUPPORT and is_of_codes:
                yield FormatRelation(
                    columns=(name,),
                    support=n / len(text),
                    pattern=pattern,
                    has_lengths=has_lengths,
                )
                break
