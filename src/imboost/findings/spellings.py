"""Other spellings of a category: upper and lower case, spaces, signs and typing errors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.findings.finding import CheckedTable, Finding
from imboost.present.formatting import count
from imboost.relations.spelling_search import find_variants
from imboost.tables.cells import is_text
from imboost.tables.roles import Role

MAX_SPACED = 0.2  # fraction of cells with spaces around them, if these are errors
MAX_SHOWN = 5  # variants in a message


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
        shown = sorted(right, key=lambda variant: (-counts[variant], variant))
        parts = [
            f"'{variant}' ({count(counts[variant], 'row')}) for '{right[variant]}'"
            for variant in shown[:MAX_SHOWN]
        ]
        more = f" and {len(shown) - MAX_SHOWN} more" if len(shown) > MAX_SHOWN else ""
        message = f"{name} has other spellings of the same value: {', '.join(parts)}{more}."
        rows = np.flatnonzero(np.asarray(is_variant.to_numpy()))
        cells = checked.cells(name, rows)
        values = tuple(f"{cell} for {right[cell]}" for cell in cells)
        yield Finding("spellings", (name,), message, tuple(rows.tolist()), values)


def _spaced(checked: CheckedTable, name: str, counts: dict[str, int]) -> Iterator[Finding]:
    """Find cells with spaces around them where most cells have none."""
    column = checked.table.column(name)
    if not is_text(column.type):
        return
    trimmed = pc.utf8_trim_whitespace(column)
    differs = pc.fill_null(pc.not_equal(trimmed, column), False).to_numpy()
    where = np.asarray(differs) & np.asarray(checked.texts[name].is_valid().to_numpy())
    n = int(where.sum())
    if 0 < n <= MAX_SPACED * sum(counts.values()):
        cells = "1 cell" if n == 1 else f"{n:,} cells"
        yield checked.finding(
            "spellings",
            name,
            f"{cells} of {name} begin{'s' * (n == 1)} or end{'s' * (n == 1)} with a space.",
            where,
        )
