"""Rows and identifiers that occur more than once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Indices
from imboost.facts import Fact, FactKind
from imboost.findings.finding import CheckedTable, Found
from imboost.relations.evidence import codes_of
from imboost.relations.relation import Parsed
from imboost.relations.repeated_rows import Hashes, hash_columns, information, repeated
from imboost.tables.roles import FOREIGN_KEY_NAME, IDENTIFIER_NAME, Role

MIN_COLUMNS = {1: 4, 2: 6}  # columns needed to call rows with so many differences near duplicates
MAX_NEAR_SHARE = 0.05  # of the rows that are reported, those with the fewest differences
MAX_PAIRED_COLUMNS = 80  # columns up to which two differences are searched
MAX_PAIR_WORK = 60_000_000  # rows times pairs of columns up to which two differences are searched
EXTRA_BITS = 8  # of information that equal cells have beyond the number of a row
MAX_REPEATED_IDS = 0.1  # share of rows; more repeated values are no identifiers
MIN_CODES = 0.9  # share of values with a digit and no space in columns of codes

Codes = Indices


def find_duplicates(checked: CheckedTable) -> Iterator[Found]:
    """Find rows that repeat an earlier row in every column."""
    names = tuple(checked.texts)
    facts = [
        Fact(kind=FactKind.DUPLICATE, row=row, other_row=other)
        for row, other in enumerate(
            _first_rows(hash_columns(checked.texts, names).sum(0)).tolist()
        )
        if row != other
    ]
    if facts:
        yield names, facts


def find_near_duplicates(checked: CheckedTable) -> Iterator[Found]:
    """Find rows that repeat an earlier row in all but one or two columns, or all but the ids."""
    codes = {name: codes_of(text) for name, text in checked.texts.items()}
    codes = {name: values for name, values in codes.items() if (values != values[:1]).any()}
    identifiers = [name for name in checked.names(Role.IDENTIFIER) if name in codes]
    found: dict[int, tuple[Fact, float]] = {}
    for left_out in ([], identifiers) if identifiers else ([],):
        for row, fact, bits in _near_duplicates(checked.texts, codes, left_out):
            if row not in found or bits > found[row][1]:
                found[row] = fact, bits
    most = max(int(MAX_NEAR_SHARE * checked.table.num_rows), 1)
    best = sorted(found, key=lambda row: (len(found[row][0].columns), -found[row][1]))[:most]
    if best:
        yield tuple(codes), [found[row][0] for row in sorted(best)]


def _near_duplicates(
    texts: Parsed, codes: dict[str, Codes], identifiers: list[str]
) -> Iterator[tuple[int, Fact, float]]:
    """Yield rows that equal an earlier one but for identifiers and at most two other columns.

    The last value is the information of the equal cells, in bits.
    """
    names = [name for name in codes if name not in identifiers]
    n, m = len(next(iter(codes.values()), [])), len(names)
    if m < MIN_COLUMNS[1] or n < 2:
        return
    hashes = hash_columns(texts, tuple(codes))
    parts = hashes[[name not in identifiers for name in codes]]
    pairs = zip(names, parts, strict=True)
    bits = np.array([information(part) * (codes[name] >= 0) for name, part in pairs])
    whole, all_bits, row_hashes = parts.sum(axis=0), bits.sum(axis=0), hashes.sum(axis=0)
    combinations_left_out: list[tuple[int, ...]] = [(), *((at,) for at in range(m))]
    if MIN_COLUMNS[2] <= m <= MAX_PAIRED_COLUMNS and n * m * m / 2 <= MAX_PAIR_WORK:
        combinations_left_out += combinations(range(m), 2)
    needed = np.log2(n) + EXTRA_BITS
    is_free = np.ones(n, dtype=bool)  # not yet the near duplicate of another row
    for columns in combinations_left_out:
        at = list(columns)
        rest = all_bits - bits[at].sum(axis=0)
        rows = np.flatnonzero(is_free & (rest >= needed))
        hashes_left = whole[rows] - parts[at][:, rows].sum(axis=0)
        is_repeated = np.isin(hashes_left, repeated(hashes_left))
        rows = rows[is_repeated]
        if not len(rows):
            continue
        first = rows[_first_rows(hashes_left[is_repeated])]
        is_near = (first != rows) & (row_hashes[first] != row_hashes[rows])
        is_free[rows[is_near]] = False
        for row, other in zip(rows[is_near].tolist(), first[is_near].tolist(), strict=True):
            differ = [name for name in identifiers if codes[name][row] != codes[name][other]]
            differing = (*(names[index] for index in at), *differ)
            kind = FactKind.NEAR_DUPLICATE
            fact = Fact(kind=kind, columns=differing, row=row, other_row=other)
            yield row, fact, float(rest[row])


def find_repeated_ids(checked: CheckedTable) -> Iterator[Found]:
    """Find rows that repeat an earlier value of an identifier column."""
    for name in checked.names(Role.IDENTIFIER):
        text = checked.texts[name]
        codes = codes_of(text)
        known = np.flatnonzero(codes >= 0)
        first = np.full(len(codes), -1)
        first[known] = known[_first_rows(codes[known].astype(np.uint64))]
        where = (first >= 0) & (first != np.arange(len(first)))
        n_most = max(MAX_REPEATED_IDS * len(known), 1)
        if 0 < where.sum() <= n_most and _are_ids(name, text):
            yield checked.cells(FactKind.REPEATED_ID, name, where)


def _are_ids(name: str, text: pa.ChunkedArray) -> bool:
    """Whether values should be unique, by the name of the column or because they are codes."""
    if IDENTIFIER_NAME.search(name) or FOREIGN_KEY_NAME.search(name):
        return True
    is_code = pc.match_substring_regex(text.drop_null(), r"^\S*\d\S*$")
    return bool(pc.mean(is_code).as_py() >= MIN_CODES)


def _first_rows(hashes: Hashes) -> Indices:
    """Return for each row the first row with the same hash."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])
