"""Categories, and booleans as people write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Floats
from imboost.tables.cells import as_text, is_text, to_floats
from imboost.tables.number_parser import NumberParser

TRUE_STRINGS = ("true", "yes", "y", "t")
FALSE_STRINGS = ("false", "no", "n", "f")


@dataclass(frozen=True)
class CategoryParser:
    """Parses categories: any text, with one spelling for each integer and boolean."""

    note: str = field(default="", compare=False)
    content: ClassVar[str] = "category"

    def parse(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return categories; null where a cell is missing."""
        return to_categories(cells)


@dataclass(frozen=True)
class BooleanParser:
    """Parses booleans into `false` and `true`, the spellings of the training table."""

    false: str = "false"
    true: str = "true"
    note: str = field(default="", compare=False)
    content: ClassVar[str] = "boolean"

    @classmethod
    def fit_parse(cls, cells: pa.ChunkedArray) -> tuple[Self, pa.ChunkedArray]:
        """Find the most common spelling of each boolean, and return the parsed cells too.

        >>> BooleanParser.fit_parse(pa.chunked_array([["Y", "N", "y", "N", "Y"]]))[0]
        BooleanParser(false='N', true='Y', note='')
        """
        values, spelled = parse_booleans(cells), to_categories(cells)
        parser = cls(
            _most_common(spelled.filter(pa.array(values == 0)), cls.false),
            _most_common(spelled.filter(pa.array(values == 1)), cls.true),
        )
        return parser, parser._spell(values)

    def parse(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return `true` or `false` for every cell; null where it is missing or not a boolean."""
        return self._spell(parse_booleans(cells))

    def _spell(self, values: Floats) -> pa.ChunkedArray:
        spelled = pc.if_else(pa.array(values == 1), self.true, self.false)
        return pa.chunked_array([pc.if_else(pa.array(np.isnan(values)), None, spelled)])


def to_categories(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as text with one spelling for each integer and boolean.

    >>> to_categories(pa.chunked_array([["1.0", "01", "True", None]])).to_pylist()
    ['1', '01', 'true', None]
    """
    if is_text(column.type):
        return _map_distinct(_spell, pc.cast(column, pa.string()))
    text = as_text(column)
    if pa.types.is_floating(column.type):
        values = pc.cast(column, pa.float64())
        is_integer = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), 2.0**53))
        integers = pc.cast(pc.if_else(is_integer, values, None), pa.int64())
        return pc.coalesce(pc.cast(integers, pa.string()), text)
    return _spell(text)


def _map_distinct(
    function: Callable[[pa.ChunkedArray], pa.ChunkedArray], column: pa.ChunkedArray
) -> pa.ChunkedArray:
    """Return the results of a function of single cells, computed once for each distinct cell."""
    encoded = pc.dictionary_encode(column).combine_chunks()
    values = function(pa.chunked_array([encoded.dictionary])).combine_chunks()
    return pa.chunked_array([values.take(encoded.indices)])


def _spell(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text without spaces around it, with one spelling for each integer and boolean."""
    text = as_text(text)
    text = pc.replace_substring_regex(text, r"^([+-]?(?:0|[1-9]\d*))\.0*$", r"\1")
    text = pc.replace_substring_regex(text, "^(?:True|TRUE)$", "true")
    return pc.replace_substring_regex(text, "^(?:False|FALSE)$", "false")


def parse_booleans(column: pa.ChunkedArray) -> Floats:
    """Return a column as 1 and 0; nan where a cell is missing or not a boolean."""
    if pa.types.is_boolean(column.type):
        return to_floats(column)
    numbers = NumberParser().parse(column)
    values = np.where(np.isin(numbers, (0.0, 1.0)), numbers, np.nan)
    if not is_text(column.type):
        return values
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    for value, strings in ((1.0, TRUE_STRINGS), (0.0, FALSE_STRINGS)):
        is_one = pc.fill_null(pc.is_in(lower, pa.array(strings)), False)
        values[is_one.to_numpy(zero_copy_only=False)] = value
    return values


def _most_common(text: pa.ChunkedArray, default: str) -> str:
    counts = pc.value_counts(text).to_pylist()
    ordered = sorted(counts, key=lambda one: (-one["counts"], one["values"]))
    return str(ordered[0]["values"]) if ordered else default
