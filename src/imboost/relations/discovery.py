"""Find the relations between the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.relations.code_format import FormatRelation, patterns
from imboost.relations.dependency import find_dependencies
from imboost.relations.evidence import MIN_ROWS, MIN_SUPPORT, Evidence
from imboost.relations.linear_search import find_sums
from imboost.relations.order import find_orders
from imboost.relations.product import find_products
from imboost.relations.relation import Parsed, Relation, n_rows
from imboost.tables.roles import Role
from imboost.tables.schema import Schema

MIN_DISTINCT_CODES = 20  # codes from which a common pattern is no accident


def discover(schema: Schema, parsed: Parsed, random_state: int = 0) -> list[Relation]:
    """Return the relations that hold in nearly all rows of a table.

    Parameters
    ----------
    schema : Schema
    parsed : dict of str to parsed cells
        As `Schema.fit_parse` returns them; `with_text_columns` adds codes and identifiers.
    random_state : int, default 0
        Chooses the rows that are looked at first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> net, tax = rng.integers(100, 900, 200) / 100, rng.integers(10, 90, 200) / 100
    >>> table = pa.table({"net": net, "tax": tax, "total": net + tax})
    >>> [relation.columns for relation in discover(*Schema.fit_parse(table))]
    [('total', 'net', 'tax')]
    """
    if n_rows(parsed) < MIN_ROWS:
        return []
    evidence = Evidence(parsed, np.random.default_rng(random_state))
    roles = {column.name: column.role for column in schema if column.name in parsed}
    numbers = [name for name, role in roles.items() if role == Role.NUMERIC]
    times = [name for name, role in roles.items() if role == Role.DATETIME]
    sums = find_sums(evidence, numbers, times)
    lines = _pairs([relation for relation in sums if len(relation.columns) == 2])
    products = find_products(evidence, numbers, lines)
    categories = [name for name in parsed if roles.get(name) != Role.DATETIME]
    dependencies = find_dependencies(evidence, categories, lines)
    related = _pairs([*sums, *products, *dependencies])
    orders = [
        *find_orders(evidence, numbers, related, are_times=False),
        *find_orders(evidence, times, related, are_times=True),
    ]
    return [*sums, *products, *orders, *dependencies, *_find_formats(parsed)]


def _pairs(relations: Sequence[Relation]) -> set[frozenset[str]]:
    """Return the pairs of columns that occur together in a relation."""
    return {frozenset(pair) for one in relations for pair in combinations(one.columns, 2)}


def _find_formats(parsed: Parsed) -> list[FormatRelation]:
    """Return the formats of columns of codes that contain digits."""
    found = []
    for name, values in parsed.items():
        if isinstance(values, np.ndarray) or len(values) == values.null_count:
            continue
        text = values.drop_null()
        if len(text) < MIN_ROWS or pc.count_distinct(text).as_py() < MIN_DISTINCT_CODES:
            continue
        for has_lengths in (True, False):
            counts = pc.value_counts(patterns(text, has_lengths)).to_pylist()
            best = max(counts, key=lambda one: one["counts"])
            share, pattern = best["counts"] / len(text), best["values"]
            if share >= MIN_SUPPORT and _says_something(pattern, text, has_lengths):
                relation = FormatRelation(
                    columns=(name,), support=share, pattern=pattern, has_lengths=has_lengths
                )
                found.append(relation)
                break
    return found


def _says_something(pattern: str, text: pa.ChunkedArray, has_lengths: bool) -> bool:
    """Whether a pattern is that of codes: not of words, and not of numbers of any size."""
    if "9" not in pattern:
        return False
    if set(pattern) == {"9"}:  # numbers, unless some begin with 0
        return has_lengths and bool(pc.any(pc.starts_with(text, "0")).as_py())
    return True
