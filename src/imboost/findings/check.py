"""Check a table for everything that is wrong with it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.errors import UnknownNameError
from imboost.facts import Fact, FactKind
from imboost.findings.dates import find_impossible_dates, looks_like_date, unreadable
from imboost.findings.duplicates import (
    find_duplicates,
    find_near_duplicates,
    find_repeated_ids,
)
from imboost.findings.finding import CheckedTable, Finding, Found
from imboost.findings.sentinels import find_sentinels
from imboost.findings.units import find_mixed_units
from imboost.relations import discover, with_text_columns
from imboost.relations.texts import find_variants
from imboost.tables.cells import is_text, value_counts
from imboost.tables.frames import to_arrow
from imboost.tables.roles import Role
from imboost.tables.schema import ParsedColumns, Schema

MAX_SPACED = 0.2  # share of cells with spaces around them, if these are errors


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
    checked = CheckedTable(table, fitted, everything, today or datetime.date.today())
    return [
        Finding(kind, columns, facts)
        for kind in kinds
        if kind in CHECKS
        for columns, facts in CHECKS[kind](checked)
    ]


def select_kinds(only: Collection[str] = (), skip: Collection[str] = ()) -> list[str]:
    """Return the kinds of findings to look for; raise if one is unknown.

    >>> select_kinds(only=["units", "dates"], skip=["dates"])
    ['units']
    """
    for kind in (*only, *skip):
        if kind not in KINDS:
            raise UnknownNameError("kind of finding", kind, KINDS)
    return [kind for kind in KINDS if (not only or kind in only) and kind not in skip]


def find_spellings(checked: CheckedTable) -> Iterator[Found]:
    """Find categories that are other spellings of more common ones, or have spaces around them."""
    for name in checked.names(Role.CATEGORICAL, Role.BOOLEAN):
        text, column = checked.texts[name], checked.table.column(name)
        if is_text(column.type):
            trimmed = pc.utf8_trim_whitespace(column)
            where = np.asarray(pc.fill_null(pc.not_equal(trimmed, column), False))
            where &= np.asarray(text.is_valid())
            if 0 < where.sum() <= MAX_SPACED * (len(text) - text.null_count):
                yield checked.cells(FactKind.SPACES, name, where)
        right = find_variants(value_counts(text)) if is_text(text.type) else {}
        if right:
            is_variant = pc.fill_null(pc.is_in(text, pa.array(list(right), text.type)), False)
            columns, facts = checked.cells(FactKind.SPELLING, name, np.asarray(is_variant))
            yield columns, [replace(fact, expected=right[fact.text or ""]) for fact in facts]


def find_broken_relations(checked: CheckedTable) -> Iterator[Found]:
    """Find rows that break a relation which holds in nearly all rows."""
    seen: set[tuple[str, tuple[int, ...]]] = set()
    for relation in discover(checked.schema, checked.parsed):
        violations = relation.violations(checked.parsed)
        key = relation.target, tuple(violations)
        if not violations or key in seen:
            continue
        seen.add(key)
        yield (
            relation.columns,
            [
                Fact(
                    kind=FactKind.RULE,
                    columns=tuple(sorted(relation.columns, key=lambda name: name != rule.column)),
                    row=row,
                    text=checked.texts[rule.column][row].as_py(),
                    rule=rule,
                )
                for row, rule in violations.items()
            ],
        )


def find_unreadable_cells(checked: CheckedTable) -> Iterator[Found]:
    """Find cells that do not fit the role of their column."""
    for column in checked.schema:
        if not column.n_unparsed or column.parser is None:
            continue
        where = unreadable(checked, column.name)
        if column.role == Role.DATETIME:  # those that look like a date are impossible dates
            where &= ~looks_like_date(checked, column.name)
        if where.any():
            content = column.parser.content
            yield checked.cells(FactKind.UNREADABLE, column.name, where, content=content)


CHECKS: dict[str, Callable[[CheckedTable], Iterator[Found]]] = {
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
"""The checks by the kind of their findings."""

KINDS = (*CHECKS, "changed")
"""The kinds of findings. Columns that changed need a model, see `imboost.cli.check`."""
