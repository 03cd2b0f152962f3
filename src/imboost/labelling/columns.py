"""The columns of the table as the page shows and compares them, and groups of like rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from imboost.arrays import Floats, Indices, Mask
from imboost.facts import Cell
from imboost.present import wording
from imboost.present.formatting import shorten
from imboost.present.pictures import Frequencies, Histogram
from imboost.tables.cells import to_text
from imboost.tables.names import row_name

FENCE = 1.5  # interquartile ranges beyond the quartiles: Tukey's fences
EXCESS = 0.25  # numbers as extreme as this fraction of another one's excess are like it
RARE = 1e-3  # fraction of the rows up to which a category is rare
MAX_RARE_ROWS = 0.05  # fraction of rows with rare categories above which that is not unusual
N_DIFFERENCES = 3  # columns named as the differences of two rows
MIN_DIFFERENCE = 0.1  # of the range between the fences; smaller differences are not named
NEARBY = 0.05  # numbers that differ by less than this fraction of the inner range are alike
MAX_GROUP = 100  # rows: a person looks through all of them
SUSPECT_FRACTION = 0.05  # of the rows: lower scores are grouped only if predicted outliers
MAX_SHARED = 2  # first reasons that the rows of a group share
NEAR_DUPLICATE = 0.9  # fraction of equal cells from which rows are near duplicates


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """Parsed numbers or datetimes of a column, nan where missing."""

    values: Floats
    low: float
    high: float
    picture: Histogram

    @classmethod
    def fit(cls, values: Floats) -> NumberColumn:
        """Find the range beyond which values are extreme."""
        known = values[np.isfinite(values)]
        low, high = np.quantile(known, (0.25, 0.75)) if len(known) else (0.0, 0.0)
        margin = FENCE * (high - low)
        return cls(values, float(low - margin), float(high + margin), Histogram.of_column(values))

    def like(self, row: int) -> Mask:
        """Return which rows are like a row: extreme on the same side, or nearly equal."""
        value = self.values[row]
        if np.isnan(value):
            found = np.isnan(self.values)
        elif value > self.high:
            found = self.values > self.high + EXCESS * (value - self.high)
        elif value < self.low:
            found = self.values < self.low + EXCESS * (value - self.low)
        else:
            found = np.abs(self.values - value) <= NEARBY * (self.high - self.low)
        return np.asarray(found)

    def equal(self, row: int) -> Mask:
        """Return which rows have the value of a row."""
        value = self.values[row]
        return np.isnan(self.values) if np.isnan(value) else np.asarray(self.values == value)

    def difference(self, row: int, other: int) -> float:
        """Return how much two rows differ, relative to the range between the fences."""
        one, two = self.values[row], self.values[other]
        if np.isnan(one) or np.isnan(two):
            return float(np.isnan(one) != np.isnan(two))
        return float(min(abs(one - two) / max(self.high - self.low, 1e-12), 1.0))

    def draw(self, row: int, expected: Cell, label: str) -> Markup:
        """Draw the distribution with the value of a row and, if there is any, the expected one."""
        if isinstance(expected, np.datetime64):
            expected = float(expected.astype("datetime64[s]").astype(np.int64))
        place = expected if isinstance(expected, float | int) else np.nan
        return self.picture.draw(label, expected=place, mark=float(self.values[row]))


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """Parsed categories of a column as codes, -1 where missing."""

    codes: Indices
    categories: list[str]
    is_rare: Mask
    picture: Frequencies

    @classmethod
    def fit(cls, values: pa.ChunkedArray) -> CategoryColumn:
        """Count the categories."""
        encoded = pa.chunked_array(values).combine_chunks().dictionary_encode()
        codes = pc.fill_null(encoded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
        categories = [str(one) for one in encoded.dictionary.to_pylist()]
        counts = np.bincount(codes[codes >= 0], minlength=len(categories))
        is_rare = np.append(counts <= max(1.0, RARE * len(codes)), False)  # the last: missing
        picture = Frequencies.of_column(categories, counts.tolist())
        return cls(codes, categories, is_rare, picture)

    def like(self, row: int) -> Mask:
        """Return which rows have the category of a row, or a rare one like it."""
        has_rare = self.is_rare[self.codes]
        if has_rare[row] and has_rare.mean() <= MAX_RARE_ROWS:
            return has_rare
        return self.equal(row)

    def equal(self, row: int) -> Mask:
        """Return which rows have the category of a row."""
        return np.asarray(self.codes == self.codes[row])

    def difference(self, row: int, other: int) -> float:
        """Return 1 if two rows have different categories, else 0."""
        return float(self.codes[row] != self.codes[other])

    def draw(self, row: int, expected: Cell, label: str) -> Markup:
        """Draw the frequencies with the category of a row and the expected one."""
        code = int(self.codes[row])
        mark = self.categories[code] if code >= 0 else None
        return self.picture.draw(label, expected=wording.cell(expected), mark=mark)


class Columns:
    """All columns of a table: cells as text, and the columns that are used for scoring.

    `parsed` is as from `Schema.parse`; `broken` says for each column which rows break a rule that
    blames it, as `Rules.broken`. Row numbers are positions by default.
    """

    def __init__(
        self,
        table: pa.Table,
        parsed: dict[str, Any],
        identifiers: list[str],
        broken: Mapping[str, Mask] | None = None,
        row_numbers: Indices | None = None,
    ) -> None:
        self.names: list[str] = table.column_names
        self.used = {
            name: (NumberColumn if isinstance(values, np.ndarray) else CategoryColumn).fit(values)
            for name, values in parsed.items()
        }
        self.broken = broken or {}
        self._table, self._identifiers = table, identifiers
        self._numbers = np.arange(table.num_rows) if row_numbers is None else row_numbers

    def cells(self, row: int) -> dict[str, str]:
        """Return the cells of a row as text, empty where missing; numbers have six digits."""
        cells = self._table.slice(row, 1)  # much quicker than to take the row from each column
        return {name: self._write(name, cells.column(name))[0] for name in self.names}

    def texts(self, rows: list[int], name: str) -> list[str]:
        """Return cells of a column as text, empty where missing; much quicker than one by one."""
        return self._write(name, self._table.column(name).take(pa.array(rows, pa.int64())))

    def _write(self, name: str, cells: pa.ChunkedArray) -> list[str]:
        texts = [text or "" for text in to_text(cells).to_pylist()]
        is_number = isinstance(self.used.get(name), NumberColumn)
        return [shorten(text) for text in texts] if is_number else texts

    def largest_differences(self, row: int, other: int) -> list[str]:
        """Return the columns in which two rows differ most."""
        sizes = {name: column.difference(row, other) for name, column in self.used.items()}
        names = sorted(sizes, key=lambda name: -sizes[name])[:N_DIFFERENCES]
        return [name for name in names if sizes[name] > MIN_DIFFERENCE]

    def sort_keys(self, name: str) -> Floats:
        """Return numbers in the order of a column; rows without a value come first."""
        used = self.used.get(name)
        if isinstance(used, NumberColumn):
            return np.where(np.isnan(used.values), -np.inf, used.values)
        column = CategoryColumn.fit(to_text(self._table.column(name)))
        ranks = np.argsort(np.argsort(np.array(column.categories, dtype=object)))
        return np.append(ranks, -1.0)[column.codes]

    def contain(self, text: str, names: list[str]) -> Mask:
        """Return which rows contain a text in one of these columns, in any case."""
        found = np.zeros(self._table.num_rows, dtype=bool)
        for name in names:
            matches = pc.match_substring(to_text(self._table.column(name)), text, ignore_case=True)
            found |= pc.fill_null(matches, False).to_numpy()
        return found

    def row_names(self, rows: list[int]) -> list[str]:
        """Return the names of rows: the identifier, or the number of a row without one."""
        identifier = next(iter(self._identifiers), None)
        values = [""] * len(rows) if identifier is None else self.texts(rows, identifier)
        return [
            row_name(int(self._numbers[row]), identifier, value or None)
            for row, value in zip(rows, values, strict=True)
        ]


def find_suspects(scores: Floats, threshold: float) -> Indices:
    """Return the rows that may be grouped: predicted outliers and the highest scores."""
    floor = min(threshold, float(np.quantile(scores, 1 - SUSPECT_FRACTION)))
    return np.flatnonzero(scores > floor)


def find_group(
    columns: Columns,
    row: int,
    reasons: Sequence[str],
    scores: Floats,
    suspects: Indices,
    rules: Collection[str] = (),
) -> tuple[str, list[int]]:
    """Return what the rows like a row share, and these rows by descending score.

    A row that is no suspect has no group: its answer is likely "inlier", and may be wrong for
    suspicious rows that look alike. `reasons` are the columns that make the row unusual, the
    strongest first; where they are among `rules`, rows are alike if they break a rule of the same
    column.
    """
    if row not in suspects:
        return "", []
    suspects = suspects[suspects != row]
    shared = [name for name in reasons if name in columns.used][:MAX_SHARED]
    if shared and shared[0] in rules:
        name = shared[0]
        mask = columns.broken[name] if name in columns.broken else columns.used[name].like(row)
        is_like, reason = mask[suspects], f"unusual in {name} by a broken rule"
    elif shared:
        shared = [name for name in shared if name not in rules]
        is_like = np.all([columns.used[name].like(row)[suspects] for name in shared], axis=0)
        reason = f"unusual in {' and '.join(shared)} in the same way"
    else:
        equal = np.mean([column.equal(row)[suspects] for column in columns.used.values()], axis=0)
        is_like = equal >= NEAR_DUPLICATE
        reason = "nearly all cells are the same"
    found = suspects[is_like]
    order = np.argsort(-scores[found], kind="stable")[:MAX_GROUP]
    return reason, found[order].tolist()
