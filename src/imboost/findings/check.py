"""Check a table for everything that is wrong with it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

from imboost.errors import UnknownNameError
from imboost.facts import Fact, FactKind
from imboost.findings.dates import find_impossible_dates, looks_like_date, unreadable
from imboost.findings.duplicates import (
    find_duplicates,
    find_near_duplicates,
    find_repeated_ids,
)
from imboost.findings.finding import KINDS, CheckedTable, Finding
from imboost.findings.sentinels import find_sentinels
from imboost.findings.spellings import find_spellings
from imboost.findings.units import find_mixed_units
from imboost.relations import Relation, discover, with_text_columns
from imboost.tables.frames import to_arrow
from imboost.tables.roles import Role
from imboost.tables.schema import ParsedColumns, Schema

Check = Callable[[CheckedTable], Iterator[Finding]]


def check_table(
    source: Any,
    *,
    roles: Mapping[str, str] | None = None,
    schema: tuple[Schema, ParsedColumns] | None = None,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    today: datetime.date | None = None,
) -> list[Finding]:
    """Return everything that is wrong with a table, kind by kind.

    Parameters
    ----------
    source : table, array or path
        Anything that `imboost.tables.frames.to_arrow` takes.
    roles : dict of str to str, optional
        Roles of some columns; those of others are inferred.
    schema : (Schema, dict), optional
        The schema of the table and its parsed columns, if they are known already.
    only, skip : collection of str
        Kinds of findings, see `KINDS`; all if empty.
    today : date, optional
        Later dates are in the future. Default: the date of the computer.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [*range(20, 60), 999], "city": ["Bonn", *["Rome"] * 40]})
    >>> [found.kind for found in check_table(frame)]
    ['sentinels']
    """
    kinds = select_kinds(only, skip)
    table = to_arrow(source)
    fitted, parsed = schema or Schema.fit_parse(table, roles, needs_features=False)
    everything = with_text_columns(fitted, table, parsed)
    relations: list[Relation] = discover(fitted, everything) if "relations" in kinds else []
    checked = CheckedTable(table, fitted, everything, relations, today or datetime.date.today())
    return [found for kind in kinds if kind in CHECKS for found in CHECKS[kind](checked)]


def select_kinds(only: Collection[str] = (), skip: Collection[str] = ()) -> list[str]:
    """Return the kinds of findings to look for; raise if one is unknown.

    >>> select_kinds(only=["units", "dates"], skip=["dates"])
    ['units']
    """
    for kind in (*only, *skip):
        if kind not in KINDS:
            raise UnknownNameError("kind of finding", kind, KINDS)
    return [kind for kind in KINDS if (not only or kind in only) and kind not in skip]


def find_broken_relations(checked: CheckedTable) -> Iterator[Finding]:
    """Find rows that break a relation which holds in nearly all rows."""
    seen: dict[tuple[str, tuple[int, ...]], None] = {}
    for relation in checked.relations:
        violations = relation.violations(checked.parsed)
        key = relation.target, tuple(violations)
        if not violations or key in seen:
            continue
        seen[key] = None
        facts = tuple(
            Fact(
                kind=FactKind.RULE,
                columns=tuple(sorted(relation.columns, key=lambda name: name != rule.column)),
                row=row,
                text=checked.cells(rule.column, np.array([row]))[0],
                rule=rule,
            )
            for row, rule in violations.items()
        )
        yield Finding("relations", relation.columns, facts)


def find_unreadable_cells(checked: CheckedTable) -> Iterator[Finding]:
    """Find cells that do not fit the role of their column."""
    for column in checked.schema:
        if not column.n_unparsed or column.parser is None:
            continue
        where = unreadable(checked, column.name)
        if column.role == Role.DATETIME:  # those that look like a date are impossible dates
            where &= ~looks_like_date(checked, column.name)
        if where.any():
            yield checked.finding(
                "unreadable",
                FactKind.UNREADABLE,
                column.name,
                where,
                content=column.parser.content,
            )


CHECKS: dict[str, Check] = {
    "duplicates": find_duplicates,
    "near-duplicates": find_near_duplicates,
    "repeated-ids": find_repeated_ids,
    "spellings": find_spellings,
    "sentinels": find_sentinels,
    "dates": find_impossible_dates,
    "units": find_mixed_units,
    "relations": find_broken_relations,
    "unreadable": find_unreadable_cells,
}
"""The check of each kind; columns that changed need a model, see `imboost.cli.check`."""
