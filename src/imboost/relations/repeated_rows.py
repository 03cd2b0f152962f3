"""Rows that occur more than once, exactly or but for one cell."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from imboost.arrays import Floats, Mask
from imboost.relations.relation import Parsed, n_rows

MIN_COLUMNS = 4  # columns from which rows that differ in one cell are near duplicates
MAX_REPEATED = 0.01  # share of rows; in a table with more of them, rows repeat by nature
MANTISSA = 2.0**26  # numbers with a relative difference below its inverse are the same
EXTRA_BITS = 8.0  # of information that equal cells must have beyond the number of a row

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class RepeatedRows:
    """Recognises the rows that a training table holds more than once.

    A row is known by the hash of its cells, and by the hashes of its cells without one of them.
    """

    columns: tuple[str, ...]
    exact: Hashes  # of the training rows that occur more than once, sorted
    near: list[Hashes]  # without the cell of each column; empty if it distinguishes too many rows

    @classmethod
    def fit(cls, parsed: Parsed) -> RepeatedRows | None:
        """Find the repeated rows of a training table; None if there are none, or too many."""
        if not n_rows(parsed):
            return None
        columns = tuple(parsed)
        parts = hash_columns(parsed, columns)
        bits = np.array([information(part) for part in parts])
        total, all_bits, n = parts.sum(axis=0), bits.sum(axis=0), parts.shape[1]

        def rare(hashes: Hashes, known_bits: Floats) -> Hashes:
            """Return the repeated hashes, unless too many rows have them."""
            found = repeated(hashes[known_bits >= np.log2(n) + EXTRA_BITS])
            return found if np.isin(hashes, found).sum() <= MAX_REPEATED * n else found[:0]

        exact, near = rare(total, all_bits), [total[:0]] * len(columns)
        if len(columns) >= MIN_COLUMNS:
            pairs = zip(parts, bits, strict=True)
            near = [rare(total - part, all_bits - part_bits) for part, part_bits in pairs]
        if not len(exact) and not any(len(hashes) for hashes in near):
            return None
        return cls(columns, exact, near)

    def is_repeated(self, parsed: Parsed) -> Mask:
        """Return which rows equal two training rows, but for at most one cell."""
        parts = hash_columns(parsed, self.columns)
        total = parts.sum(axis=0)
        found = np.isin(total, self.exact)
        for part, hashes in zip(parts, self.near, strict=True):
            found |= np.isin(total - part, hashes)
        return found


def hash_columns(parsed: Parsed, columns: tuple[str, ...]) -> Hashes:
    """Return hashes of the cells (columns, rows), which differ for a value in two columns.

    Their sum over some columns is a hash of the row.
    """
    factors = np.random.default_rng(0).integers(2**63, size=len(columns), dtype=np.uint64)
    pairs = zip(columns, 2 * factors + np.uint64(1), strict=True)
    hashes = [_hash_cells(parsed[name]) * factor for name, factor in pairs]
    return np.array(hashes, dtype=np.uint64).reshape(len(columns), n_rows(parsed))


def _hash_cells(values: Any) -> Hashes:
    """Return a hash of each cell, the same for numbers that differ by rounding errors."""
    if isinstance(values, np.ndarray):
        mantissa, exponent = np.frexp(values)
        rounded = np.ldexp(np.round(mantissa * MANTISSA) / MANTISSA, exponent)
        whole = np.round(values)  # whole numbers and seconds stay distinct, whatever their size
        is_whole = np.abs(values - whole) <= np.abs(values) / MANTISSA
        return _mix(np.where(is_whole, whole, rounded).view(np.uint64))
    encoded = pa.chunked_array(values).combine_chunks().dictionary_encode()
    texts = [text.encode() for text in encoded.dictionary.to_pylist()]
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in [*texts, b""])
    codes = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return np.asarray(np.frombuffer(digests, "<u8")[codes])


def _mix(numbers: Hashes) -> Hashes:
    """Return hashes of numbers, by the last step of the generator splitmix64."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def information(hashes: Hashes) -> Floats:
    """Return the information of each cell in bits, by the frequency of its value."""
    _, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    return np.asarray(np.log2(len(hashes) / np.maximum(counts, 2))[inverse])


def repeated(hashes: Hashes) -> Hashes:
    """Return the hashes that occur more than once, sorted."""
    ordered = np.sort(hashes)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
