"""The rules of a table, as flags that a detector can be trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from imboost.arrays import Floats, Mask
from imboost.facts import WHOLE_ROW, BrokenRule
from imboost.relations.discovery import discover
from imboost.relations.relation import Parsed, Relation, n_rows
from imboost.relations.repeated_rows import RepeatedRows
from imboost.relations.spelling import find_spelling_relations
from imboost.tables.layout import Feature, Kind
from imboost.tables.schema import Schema

MAX_BROKEN = 0.005  # maximum fraction of the training rows that break a rule
MIN_BROKEN = 3  # rows that may always break it, in small tables
MAX_MISSPELT = 0.05  # maximum fraction of the training rows with another spelling in a column


@dataclass(frozen=True, eq=False)
class Rules:
    """Relations between columns and repeated rows: what a row may break besides single cells.

    Parameters
    ----------
    relations : tuple of Relation
    repeated : RepeatedRows or None
        None if the training table has no repeated rows, or too many for them to be errors.
    columns : tuple of str
        Input columns that have a flag; `WHOLE_ROW` for repeated rows.

    Examples
    --------
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
    repeated: RepeatedRows | None
    columns: tuple[str, ...]

    @classmethod
    def fit(cls, schema: Schema, parsed: Parsed) -> Self:
        """Find the rules of a training table that few of its rows break."""
        n = n_rows(parsed)
        limit, spelling_limit = max(MAX_BROKEN * n, MIN_BROKEN), max(MAX_MISSPELT * n, MIN_BROKEN)
        relations = (
            *(one for one in discover(schema, parsed) if n_broken(one, parsed) <= limit),
            *(
                one
                for one in find_spelling_relations(parsed)
                if n_broken(one, parsed) <= spelling_limit
            ),
        )
        named = {name for one in relations for name in one.columns}
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
                found = relation.violations(parsed)
                broken = {row: one for row, one in found.items() if one.column == column} | broken
        return broken


def n_broken(relation: Relation, parsed: Parsed) -> int:
    """Return the number of rows in which a relation does not hold."""
    return int((~relation.holds(parsed)).sum())
