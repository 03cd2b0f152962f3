"""Names of rows: by their identifier, or by their number."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.errors import DataError
from imboost.tables.cells import to_text

UNNAMED = "identifier"  # shown for a column without a name, such as the index pandas writes
NUMBERED = re.compile(r"row (\d[\d,]*)", re.IGNORECASE)


def row_name(number: int, identifier: str | None, value: str | None) -> str:
    """Return the name of a row, which `parse_row_name` reads.

    >>> row_name(17, "order_id", "A0000017"), row_name(17, "order_id", None)
    ('order_id A0000017', 'row 17')
    """
    if identifier is None or value is None:
        return f"row {number}"
    return f"{identifier or UNNAMED} {value}"


def parse_row_name(text: str, identifier: str | None) -> int | str:
    """Return the number of a row, counted from 0, or its identifier.

    >>> parse_row_name("order_id A17", "order_id"), parse_row_name("17", "order_id")
    ('A17', '17')
    >>> parse_row_name("row 17", "order_id"), parse_row_name("17", None)
    (17, 17)
    """
    text = text.strip()
    if numbered := NUMBERED.fullmatch(text):
        return int(numbered[1].replace(",", ""))
    if identifier is not None:
        return text.removeprefix(f"{identifier or UNNAMED} ")
    if not text.isdecimal():
        raise DataError(
            f"The table has no identifier column: give a row number, counted from 0; got '{text}'."
        )
    return int(text)


def name_rows(table: pa.Table, identifier: str | None, rows: Sequence[int]) -> dict[int, str]:
    """Return the names of rows of a whole table; a repeated identifier names none of them.

    >>> name_rows(pa.table({"id": ["a", "b", "b"]}), "id", [0, 2])
    {0: 'id a', 2: 'row 2'}
    """
    if identifier is None:
        return {row: row_name(row, None, None) for row in rows}
    texts = to_text(table.column(identifier))
    counted = pc.value_counts(texts)
    repeated = counted.filter(pc.greater(counted.field("counts"), 1)).field("values")
    taken = texts.take(pa.array(np.asarray(rows, dtype=np.int64)))
    names = pc.if_else(pc.is_in(taken, value_set=repeated), None, taken).to_pylist()
    return {row: row_name(row, identifier, name) for row, name in zip(rows, names, strict=True)}
