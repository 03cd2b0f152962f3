"""The rules of a table: relations of its columns, and flags of rows that break them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np

from imboost.arrays import Floats, Mask
from imboost.facts import WHOLE_ROW, BrokenRule
from imboost.relations.dependency import find_dependencies
from imboost.relations.evidence import MIN_ROWS, Evidence
from imboost.relations.linear import find_sums
from imboost.relations.order import find_orders
from imboost.relations.product import find_products
from imboost.relations.relation import Parsed, Relation, n_rows
from imboost.relations.repeated_rows import RepeatedRows
from imboost.relations.texts import find_formats, find_spelling_relations
from imboost.tables.layout import Feature, Kind
from imboost.tables.roles import Role
from imboost.tables.schema import Schema

MAX_BROKEN = 0.005  # maximum share of the training rows that break a rule
MIN_BROKEN = 3  # rows that may always break it, in small tables
MAX_MISSPELT = 0.05  # maximum share of the training rows with another spelling in a column


@dataclass(frozen=True, eq=False)
class Rules:
    """Relations between columns and repeated rows: what a row may break besides single cells.

    >>> import pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> net, tax = rng.integers(100, 900, 200) / 100, rng.integers(10, 90, 200) / 100
    >>> total = net + tax
    >>> net[7] += 9
    >>> schema, parsed = Schema.fit_parse(pa.table({"net": net, "tax": tax, "total": total}))
    >>> rules = Rules.fit(schema, parsed)
    >>> rules.columns, np.argwhere(rules.transform(parsed)).tolist()
    (('net', 'tax', 'total'), [[7, 0]])
    """

    relations: tuple[Relation, ...]
    repeated: RepeatedRows | None  # None without repeated rows, or with too many to be errors
    columns: tuple[str, ...]  # those that have a flag; `WHOLE_ROW` for repeated rows

    @classmethod
    def fit(cls, schema: Schema, parsed: Parsed) -> Self:
        """Find the rules of a training table that few of its rows break."""
        relations = tuple(
            relation
            for share, found in (
                (MAX_BROKEN, discover(schema, parsed)),
                (MAX_MISSPELT, find_spelling_relations(parsed)),
            )
            for relation in found
            if (~relation.holds(parsed)).sum() <= max(share * n_rows(parsed), MIN_BROKEN)
        )
        named = {name for relation in relations for name in relation.columns}
        columns = [name for name in parsed if name in named]
        repeated = RepeatedRows.fit(parsed)
        return cls(relations, repeated, (*columns, *[WHOLE_ROW] * (repeated is not None)))

    def broken(self, parsed: Parsed) -> dict[str, Mask]:
        """Return for each column which rows break a rule that blames it."""
        flags = self.transform(parsed) == 1
        return {name: flags[:, at] for at, name in enumerate(self.columns)}

    def features(self, start: int) -> list[Feature]:
        """Return the features of the flags, for a matrix in which they begin at a column."""
        return [
            Feature(name, Kind.RULE, start + at, start + at + 1)
            for at, name in enumerate(self.columns)
        ]

    def transform(self, parsed: Parsed) -> Floats:
        """Return 1 where a cell, or the whole row, breaks a rule: (rows, `columns`)."""
        flags = np.zeros((n_rows(parsed), len(self.columns)))
        position = {name: at for at, name in enumerate(self.columns)}
        for relation in self.relations:
            rows = np.flatnonzero(~relation.holds(parsed))
            blamed = relation.blame(parsed)[rows]
            for at, name in enumerate(relation.columns):
                if name in position:
                    flags[rows[blamed == at], position[name]] = 1.0
        if self.repeated is not None:
            flags[self.repeats(parsed), position[WHOLE_ROW]] = 1.0
        return flags

    def repeats(self, parsed: Parsed) -> Mask:
        """Return which rows repeat another one, but for at most one cell."""
        if self.repeated is None:
            return np.zeros(n_rows(parsed), dtype=bool)
        return self.repeated.is_repeated(parsed)

    def violations(self, parsed: Parsed, column: str) -> dict[int, BrokenRule]:
        """Return the first relation that each row breaks in a column, by row."""
        broken: dict[int, BrokenRule] = {}
        for relation in self.relations:
            if column in relation.columns:
                violations = relation.violations(parsed).items()
                broken = {row: rule for row, rule in violations if rule.column == column} | broken
        return broken


def discover(schema: Schema, parsed: Parsed) -> list[Relation]:
    """Return the relations that hold in nearly all rows of a table.

    `Schema.fit_parse` parses the table; `with_text_columns` adds codes and identifiers.

    >>> import pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> net, tax = rng.integers(100, 900, 200) / 100, rng.integers(10, 90, 200) / 100
    >>> table = pa.table({"net": net, "tax": tax, "total": net + tax})
    >>> [relation.columns for relation in discover(*Schema.fit_parse(table))]
    [('total', 'net', 'tax')]
    """
    if n_rows(parsed) < MIN_ROWS:
        return []
    evidence = Evidence(parsed, np.random.default_rng(0))
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
    return {frozenset(pair) for rule in relations for pair in combinations(rule.columns, 2)}
