"""Find the relations between the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from imboost.relations.code_format import find_formats
from imboost.relations.dependency import find_dependencies
from imboost.relations.evidence import MIN_ROWS, Evidence
from imboost.relations.linear import find_sums
from imboost.relations.order import find_orders
from imboost.relations.product import find_products
from imboost.relations.relation import Parsed, Relation, n_rows
from imboost.tables.roles import Role
from imboost.tables.schema import Schema


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
    >>> import pyarrow as pa
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
    return [*sums, *products, *orders, *dependencies, *find_formats(parsed)]


def _pairs(relations: Sequence[Relation]) -> set[frozenset[str]]:
    """Return the pairs of columns that occur together in a relation."""
    return {frozenset(pair) for rule in relations for pair in combinations(rule.columns, 2)}
