"""Kinds of errors, each a function that returns the changed cells of a row.

A further kind is one more function in `KINDS`. It returns None if the row cannot have the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import combinations, permutations
from typing import Any

import numpy as np

from imboost.arrays import Floats

Changes = dict[str, str]
Rng = np.random.Generator
Kind = Callable[["Columns", int, Rng], Changes | None]

MIN_DISTINCT = 20  # values of a column of quantities
MAX_CATEGORIES = 200
MIN_ASSOCIATION = 0.5  # share of the variance of a number that a category explains
MIN_HOLDS = 0.995  # fraction of the rows in which a relation holds
MAX_DUPLICATES = 0.001  # fraction of natural duplicates up to which more are planted
SAMPLE = 2000  # rows on which relations are looked for


class Columns:
    """The columns of a table by what their cells are, without the roles that a detector finds."""

    def __init__(self, frame: Any) -> None:
        import pandas as pd

        self.frame = frame.reset_index(drop=True)
        self.text = self.frame.map(_write)
        is_number = {name: pd.api.types.is_numeric_dtype(frame[name]) for name in frame.columns}
        self.dates = [name for name in frame.columns if self._is_date(name)]
        numbers = [
            name
            for name, found in is_number.items()
            if found and frame[name].dtype != bool and frame[name].nunique() >= MIN_DISTINCT
        ]
        whole = [name for name in numbers if (frame[name].dropna() % 1 == 0).all()]
        self.years = [name for name in whole if frame[name].between(1800, 2100).mean() > 0.9]
        keys = [name for name in whole if frame[name].nunique() > 0.95 * frame[name].count()]
        self.numbers = [name for name in numbers if name not in (*self.years, *keys)]
        self.categories = [
            name
            for name in frame.columns
            if not is_number[name]
            and name not in self.dates
            and 2 <= self.text[name].nunique() <= min(MAX_CATEGORIES, 0.2 * len(frame))
        ]
        self.n_duplicates = int(self.text.duplicated().sum())

    def cell(self, row: int, name: str) -> str | None:
        """Return a cell as text; None if it is missing."""
        found = self.text[name].iat[row]
        return found if isinstance(found, str) else None

    def value(self, row: int, name: str) -> float:
        """Return a number; nan if it is missing."""
        return float(self.frame[name].iat[row])

    def write(self, name: str, value: float) -> str:
        """Write a number as the column writes its numbers."""
        known = self.frame[name].dropna()
        is_whole = bool((known % 1 == 0).all())
        return str(round(value) if is_whole else float(f"{value:.6g}"))

    @cached_property
    def associations(self) -> list[tuple[str, str]]:
        """Pairs of a number and a category that explains much of its variance."""
        pairs = []
        for category in self.categories:
            groups = self.frame.groupby(self.text[category])
            for number in self.numbers:
                total = self.frame[number].var()
                within = (groups[number].var() * groups[number].count()).sum() / len(self.frame)
                if total > 0 and 1 - within / total > MIN_ASSOCIATION:
                    pairs.append((number, category))
        return pairs

    @cached_property
    def dependent_categories(self) -> list[tuple[str, str]]:
        """Pairs of categories of which the first nearly determines the second."""
        pairs = []
        for one, two in permutations(self.categories, 2):
            known = self.text[[one, two]].dropna()
            counts = known.groupby([one, two]).size()
            top = counts.groupby(level=0).max().sum() / max(len(known), 1)
            base = known[two].value_counts(normalize=True).iloc[0] if len(known) else 1.0
            if top > 0.98 and base < 0.9:
                pairs.append((one, two))
        return pairs

    @cached_property
    def sums(self) -> list[str]:
        """Numbers that are a multiple of another, or the sum or the product of two others."""
        frame = self.frame[self.numbers].dropna()
        sample = frame.sample(min(SAMPLE, len(frame)), random_state=0).to_numpy(float).T
        return [
            name
            for at, name in enumerate(self.numbers)
            if _follows(sample[at], np.delete(sample, at, axis=0))
        ]

    @cached_property
    def orders(self) -> list[tuple[str, str]]:
        """Pairs of dates, or numbers of like size, of which the first is never the larger."""
        pairs = []
        for names in (self.dates, self.numbers):
            for low, high in permutations(names, 2):
                a, b = self.frame[low], self.frame[high]
                if names is self.dates:
                    a, b = a.astype(str), b.astype(str)
                elif not 0.3 < abs(a.median()) / max(abs(b.median()), 1e-9) < 1.1:
                    continue
                a, b = a[known := a.notna() & b.notna()], b[known]
                if len(a) and (a <= b).all() and (a < b).mean() > 0.5:
                    pairs.append((low, high))
        return pairs

    def _is_date(self, name: str) -> bool:
        import pandas as pd

        if pd.api.types.is_datetime64_any_dtype(self.frame[name]):
            return True
        if pd.api.types.is_numeric_dtype(self.frame[name]):
            return False
        return bool(self.text[name].dropna().str.match(r"^\d{4}-\d{2}-\d{2}").mean() > 0.95)


def _write(value: Any) -> str | None:
    import pandas as pd

    if pd.isna(value):
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _follows(own: Floats, others: Floats) -> bool:
    tolerance = 0.006 * np.abs(own) + 1e-9

    def holds(made: Floats) -> bool:
        return bool(np.mean(np.abs(own - made) <= tolerance) >= MIN_HOLDS)

    multiples = (np.median(own / np.where(a == 0, np.nan, a)) * a for a in others)
    return (np.std(own) > 0 and any(map(holds, multiples))) or any(
        holds(made)
        for a, b in combinations(others, 2)
        if np.std(b) > 0
        for made in (a + b, a - b, b - a, a * b)
    )


def _pick(names: Sequence[Any], rng: Rng) -> Any:
    return names[int(rng.integers(len(names)))] if names else None


def _multiply(
    columns: Columns,
    row: int,
    rng: Rng,
    names: Callable[[Columns], list[str]],
    draw: Callable[[Rng], float],
) -> Changes | None:
    """Multiply a number of one of the columns by a factor."""
    name = _pick(names(columns), rng)
    if name is None or not np.isfinite(value := columns.value(row, name)) or value == 0:
        return None
    changed = columns.write(name, value * draw(rng))
    return {name: changed} if changed != columns.cell(row, name) else None


def _multiply_quantity(*factors: float) -> Kind:
    return partial(
        _multiply, names=lambda columns: columns.numbers, draw=lambda rng: _pick(factors, rng)
    )


def _without_negatives(columns: Columns) -> list[str]:
    return [name for name in columns.numbers if columns.frame[name].min() >= 0]


def _rewrite(
    columns: Columns,
    row: int,
    rng: Rng,
    names: Callable[[Columns], list[str]],
    change: Callable[[Any, str, Rng], str | None],
) -> Changes | None:
    """Change the text of a cell of one of the columns."""
    name = _pick(names(columns), rng)
    text = None if name is None else columns.cell(row, name)
    changed = change(columns.frame[name], text, rng) if text else None
    return {name: changed} if changed else None


def _exchange(columns: Columns, row: int, one: str, two: str) -> Changes | None:
    first, second = columns.cell(row, one), columns.cell(row, two)
    return {one: second, two: first} if first and second and first != second else None


def sentinel(columns: Columns, _row: int, rng: Rng) -> Changes | None:
    """Write a number that stands for a missing value."""
    name, value = _pick(columns.numbers, rng), _pick([999, 9999, -1, -999], rng)
    if name is None or (columns.frame[name] == value).any():
        return None
    low, high = columns.frame[name].quantile([0.001, 0.999])
    return None if low <= value <= high else {name: str(value)}


def transposed_digits(_column: Any, digits: str, _rng: Rng) -> str | None:
    """Exchange the first two digits of a number."""
    if not digits[:3].isdigit() or len(digits) < 3 or digits[1] in (digits[0], "0"):
        return None
    return digits[1] + digits[0] + digits[2:]


def wrong_year(column: Any, year: str, rng: Rng) -> str | None:
    """Exchange digits of a year, or write one of them wrong."""
    if len(year) != 4:
        return None
    changed: str = _pick([year[0] + year[2] + year[1] + year[3], year[0] + "2" + year[2:]], rng)
    return None if column.min() <= int(changed) <= column.max() else changed


def impossible_date(_column: Any, date: str, rng: Rng) -> str | None:
    """Write a date of another century or one that no calendar has."""
    dates = ["1900-01-01", f"2{date[2]}{date[1]}{date[3:10]}", f"{date[:5]}13{date[7:10]}"]
    changed = _pick(dates, rng)
    return changed + date[10:] if changed != date[:10] else None


def _respell(
    columns: Columns,
    row: int,
    rng: Rng,
    spell: Callable[[str, Rng], list[str]],
    min_length: int = 1,
) -> Changes | None:
    """Write a category in a way that does not occur."""
    name = _pick(columns.categories, rng)
    word = None if name is None else columns.cell(row, name)
    if not word or len(word) < min_length:
        return None
    changed = _pick(spell(word, rng), rng)
    return None if (columns.text[name] == changed).any() else {name: changed}


def _misspell(word: str, rng: Rng) -> list[str]:
    """Leave out, double or exchange letters."""
    at = int(rng.integers(1, len(word) - 1))
    start, letter, rest = word[:at], word[at], word[at + 1 :]
    return [start + rest, start + letter + letter + rest, start + rest[0] + letter + rest[1:]]


def _change_case(word: str, _rng: Rng) -> list[str]:
    return [word.upper(), word.lower(), word.title()]


def swapped_fields(columns: Columns, row: int, rng: Rng) -> Changes | None:
    """Exchange two numbers of a row whose columns differ in size."""
    one, two = _pick(columns.numbers, rng), _pick(columns.numbers, rng)
    if one is None or one == two:
        return None
    low, high = sorted(abs(columns.frame[name].median()) for name in (one, two))
    return _exchange(columns, row, one, two) if high > 3 * low else None


def broken_order(columns: Columns, row: int, rng: Rng) -> Changes | None:
    """Exchange a start and its end, or a minimum and its maximum."""
    pair = _pick(columns.orders, rng)
    return None if pair is None else _exchange(columns, row, *pair)


def contradicting_categories(columns: Columns, row: int, rng: Rng) -> Changes | None:
    """Replace a category by one that never occurs together with another category of the row."""
    one, two = _pick(columns.dependent_categories, rng) or ("", "")
    if not one or columns.cell(row, one) is None:
        return None
    beside = columns.text[two][columns.text[one] == columns.cell(row, one)]
    others = sorted(set(columns.text[two].dropna()) - set(beside.dropna()))
    return {two: _pick(others, rng)} if others else None


def number_against_category(columns: Columns, row: int, rng: Rng) -> Changes | None:
    """Replace a number by one of rows of another category, outside the range of its own."""
    number, category = _pick(columns.associations, rng) or ("", "")
    if not number:
        return None
    own = columns.cell(row, category)
    value = columns.value(int(rng.integers(len(columns.frame))), number)
    same = columns.frame[number][columns.text[category] == own]
    if not np.isfinite(value) or len(same) < MIN_DISTINCT:
        return None
    spread = same.max() - same.min()
    if same.min() - 0.2 * spread <= value <= same.max() + 0.2 * spread:
        return None
    return {number: columns.write(number, value)}


def duplicate(columns: Columns, row: int, rng: Rng, change: Kind | None = None) -> Changes | None:
    """Repeat a row of a table that has hardly any duplicates, with a change if there is one."""
    if columns.n_duplicates > MAX_DUPLICATES * len(columns.frame):
        return None
    return change(columns, row, rng) if change else {}


KINDS: dict[str, Kind] = {
    "decimal slip": _multiply_quantity(10, 100, 0.1, 0.01),
    "wrong unit": _multiply_quantity(12, 60, 1000, 2.54, 1 / 12, 1 / 60, 0.001),
    "flipped sign": partial(_multiply, names=_without_negatives, draw=lambda _: -1.0),
    "sentinel": sentinel,
    "transposed digits": partial(
        _rewrite, names=lambda columns: columns.numbers, change=transposed_digits
    ),
    "wrong year": partial(_rewrite, names=lambda columns: columns.years, change=wrong_year),
    "swapped fields": swapped_fields,
    "typing error": partial(_respell, spell=_misspell, min_length=4),
    "other case": partial(_respell, spell=_change_case),
    "contradicting categories": contradicting_categories,
    "number against category": number_against_category,
    "broken sum": partial(
        _multiply,
        names=lambda columns: columns.sums,
        draw=lambda rng: 1 + rng.choice([-1, 1]) * rng.uniform(0.1, 0.5),
    ),
    "broken order": broken_order,
    "impossible date": partial(
        _rewrite, names=lambda columns: columns.dates, change=impossible_date
    ),
    "exact duplicate": duplicate,
    "near duplicate": partial(duplicate, change=_multiply_quantity(1.01)),
}

ADDED_ROWS = ("exact duplicate", "near duplicate")
"""Kinds that add a row to the table instead of changing one."""
