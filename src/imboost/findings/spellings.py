"""Other spellings of a category: upper and lower case, spaces, signs and typing errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.facts import FactKind
from imboost.findings.finding import CheckedTable, Finding
from imboost.relations.spelling import find_variants
from imboost.tables.cells import is_text
from imboost.tables.roles import Role

MAX_SPACED = 0.2  # fraction of cells with spaces around them, if these are errors


def find_spellings(checked: CheckedTable) -> Iterator[Finding]:
    """Find categories that are other spellings of more common ones."""
    for name in checked.names(Role.CATEGORICAL, Role.BOOLEAN):
        text = checked.texts[name]
        if not is_text(checked.table.column(name).type) and not is_text(text.type):
            continue
        counts = {
            one["values"]: one["counts"] for one in pc.value_counts(text.drop_null()).to_pylist()
        }
        right = find_variants(counts)
        yield from _spaced(checked, name, counts)
        if not right:
            continue
        is_variant = pc.fill_null(pc.is_in(text, pa.array(list(right), text.type)), False)
        where = np.asarray(is_variant.to_numpy())
        found = checked.finding("spellings", FactKind.SPELLING, name, where)
        facts = (replace(fact, expected=right[fact.text or ""]) for fact in found.facts)
        yield replace(found, facts=tuple(facts))


def _spaced(checked: CheckedTable, name: str, counts: dict[str, int]) -> Iterator[Finding]:
    """Find cells with spaces around them where most cells have none."""
    column = checked.table.column(name)
    if not is_text(column.type):
        return
    trimmed = pc.utf8_trim_whitespace(column)
    differs = pc.fill_null(pc.not_equal(trimmed, column), False).to_numpy()
    where = np.asarray(differs) & np.asarray(checked.texts[name].is_valid().to_numpy())
    if 0 < where.sum() <= MAX_SPACED * sum(counts.values()):
        yield checked.finding("spellings", FactKind.SPACES, name, where)
