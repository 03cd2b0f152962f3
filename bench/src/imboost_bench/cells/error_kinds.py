"""Kinds of errors, each a function that returns the changed cells of a row.

A further kind is one more function in `KINDS`. It returns None if the row cannot have the error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from itertools import permutations
from typing import Any

import numpy as np

Changes = dict[str, str]
Kind = Callable[["Columns", int, np.random.Generator], Changes | None]

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
        self.years = [
            name
            for name in numbers
            if frame[name].between(1800, 2100).mean() > 0.9
            and (frame[name].dropna() % 1 == 0).all()
        ]
        is_key = {name: self._is_key(name) for name in numbers}
        self.numbers = [name for name in numbers if name not in self.years and not is_key[name]]
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
        """Numbers that are the sum or the product of two others."""
        frame = self.frame[self.numbers].dropna()
        sample = frame.sample(min(SAMPLE, len(frame)), random_state=0).to_numpy(float)
        found = []
        for target, name in enumerate(self.numbers):
            others = [at for at in range(len(self.numbers)) if at != target]
            if self._is_combination(sample, target, others):
                found.append(name)
        return found

    @staticmethod
    def _is_combination(sample: Any, target: int, others: list[int]) -> bool:
        own = sample[:, target]
        tolerance = 0.006 * np.abs(own) + 1e-9
        for number, one in enumerate(others):
            scale = np.median(own / np.where(sample[:, one] == 0, np.nan, sample[:, one]))
            is_multiple = np.abs(own - scale * sample[:, one]) <= tolerance
            if np.std(own) > 0 and np.mean(is_multiple) >= MIN_HOLDS:
                return True
            for two in others[number + 1 :]:
                a, b = sample[:, one], sample[:, two]
                for made in (a + b, a - b, b - a, a * b):
                    if np.mean(np.abs(own - made) <= tolerance) >= MIN_HOLDS and np.std(b) > 0:
                        return True
        return False

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
                known = a.notna() & b.notna()
                if (
                    known.any()
                    and (a[known] <= b[known]).all()
                    and (a[known] < b[known]).mean() > 0.5
                ):
                    pairs.append((low, high))
        return pairs

    def _is_date(self, name: str) -> bool:
        import pandas as pd

        if pd.api.types.is_datetime64_any_dtype(self.frame[name]):
            return True
        if pd.api.types.is_numeric_dtype(self.frame[name]):
            return False
        return bool(self.text[name].dropna().str.match(r"^\d{4}-\d{2}-\d{2}").mean() > 0.95)

    def _is_key(self, name: str) -> bool:
        column = self.frame[name].dropna()
        return bool((column % 1 == 0).all() and column.nunique() > 0.95 * len(column))


def _write(value: Any) -> str | None:
    import pandas as pd

    if pd.isna(value):
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _pick(names: list[Any], rng: np.random.Generator) -> Any:
    return names[int(rng.integers(len(names)))] if names else None


def _change_number(
    columns: Columns, row: int, rng: np.random.Generator, factors: tuple[float, ...]
) -> Changes | None:
    name = _pick(columns.numbers, rng)
    if name is None or not np.isfinite(value := columns.value(row, name)) or value == 0:
        return None
    changed = columns.write(name, value * _pick(list(factors), rng))
    return {name: changed} if changed != columns.cell(row, name) else None


def _exchange(columns: Columns, row: int, one: str, two: str) -> Changes | None:
    first, second = columns.cell(row, one), columns.cell(row, two)
    return {one: second, two: first} if first and second and first != second else None


def flipped_sign(columns: Columns, row: int, rng: np.random.Generator) -> Changes | None:
    """Make a quantity negative in a column without negative numbers."""
    names = [name for name in columns.numbers if columns.frame[name].min() >= 0]
    name = _pick(names, rng)
    if name is None or not columns.value(row, name) > 0:
        return None
    return {name: columns.write(name, -columns.value(row, name))}


def sentinel(columns: Columns, _row: int, rng: np.random.Generator) -> Changes | None:
    """Write a number that stands for a missing value."""
    name, value = _pick(columns.numbers, rng), _pick([999, 9999, -1, -999], rng)
    if name is None or (columns.frame[name] == value).any():
        return None
    low, high = columns.frame[name].quantile([0.001, 0.999])
    return None if low <= value <= high else {name: str(value)}


def transposed_digits(columns: Columns, row: int, rng: np.random.Generator) -> Changes | None:
    """Exchange the first two digits of a number."""
    name = _pick(columns.numbers, rng)
    digits = None if name is None else columns.cell(row, name)
    if not digits or len(digits) < 3 or not digits[:3].isdigit() or digits[0] == digits[1]:
        return None
    if digits[1] == "0":
        return None
    return {name: digits[1] + digits[0] + digits[2:]}


def wrong_year(columns: Columns, row: int, rng: np.random.Generator) -> Changes | None:
    """Exchange digits of a year, or write one of them wrong."""
    name = _pick(columns.years, rng)
    year = None if name is None else columns.cell(row, name)
    if not year or len(year) != 4:
        return None
    changed = _pick([year[0] + year[2] + year[1] + year[3], year[0] + "2" + year[2:]], rng)
    known = columns.frame[name]
    return None if known.min() <= int(changed) <= known.max() else {name: changed}


def swapped_fields(columns: Columns, row: int, rng: np.random.Generator) -> Changes | None:
    """Exchange two numbers of a row whose columns differ in size."""
    one, two = _pick(columns.numbers, rng), _pick(columns.numbers, rng)
    if one is None or one == two:
        return None
    a, b = columns.frame[one].median(), columns.frame[two].median()
    if not (abs(a) > 3 * abs(b) or abs(b) > 3 * abs(a)):
        return None
    return _exchange(columns, row, one, two)


def _respell(
    columns: Columns,
    row: int,
    rng: np.random.Generator,
    spell: Callable[[str, np.random.Generator], list[str]],
    min_length: int = 1,
) -> Changes | None:
    name = _pick(columns.categories, rng)
    word = None if name is None else columns.cell(row, name)
    if not word or len(word) < min_length:
        return None
    changed = _pick(spell(word, rng), rng)
    return None if (columns.text[name] == changed).any() else {name: changed}


def _misspell(word: str, rng: np.random.Generator) -> list[str]:
    """Leave out, double or exchange letters."""
    at = int(rng.integers(1, len(word) - 1))
    start, letter, rest = word[:at], word[at], word[at + 1 :]
    return [start + rest, start + letter + letter + rest, start + rest[0] + letter + rest[1:]]


def _change_case(word: str, _rng: np.random.Generator) -> list[str]:
    return [word.upper(), word.lower(), word.title()]


def contradicting_categories(
    columns: Columns, row: int, rng: np.random.Generator
) -> Changes | None:
    """Replace a category by one that never occurs together with another category of the row."""
    pair = _pick(columns.dependent_categories, rng)
    if pair is None or columns.cell(row, pair[0]) is None:
        return None
    one, two = pair
    beside = columns.text[two][columns.text[one] == columns.cell(row, one)]
    others = sorted(set(columns.text[two].dropna()) - set(beside.dropna()))
    return {two: _pick(others, rng)} if others else None


def number_against_category(
    columns: Columns, row: int, rng: np.random.Generator
) -> Changes | None:
    """Replace a number by one of rows of another category, outside the range of its own."""
    pair = _pick(columns.associations, rng)
    if pair is None:
        return None
    number, category = pair
    own = columns.cell(row, category)
    value = columns.value(int(rng.integers(len(columns.frame))), number)
    same = columns.frame[number][columns.text[category] == own]
    if not np.isfinite(value) or len(same) < MIN_DISTINCT:
        return None
    spread = same.max() - same.min()
    if same.min() - 0.2 * spread <= value <= same.max() + 0.2 * spread:
        return None
    return {number: columns.write(number, value)}


def broken_sum(columns: Columns, row: int, rng: np.random.Generator) -> Changes | None:
    """Change a number that follows from others by 10 to 50%."""
    name = _pick(columns.sums, rng)
    if name is None or not np.isfinite(value := columns.value(row, name)) or value == 0:
        return None
    changed = columns.write(name, value * (1 + rng.choice([-1, 1]) * rng.uniform(0.1, 0.5)))
    return {name: changed} if changed != columns.cell(row, name) else None


def broken_order(columns: Columns, row: int, rng: np.random.Generator) -> Changes | None:
    """Exchange a start and its end, or a minimum and its maximum."""
    pair = _pick(columns.orders, rng)
    if pair is None:
        return None
    return _exchange(columns, row, *pair)


def impossible_date(columns: Columns, row: int, rng: np.random.Generator) -> Changes | None:
    """Write a date of another century or one that no calendar has."""
    name = _pick(columns.dates, rng)
    date = None if name is None else columns.cell(row, name)
    if not date:
        return None
    changed = _pick(
        ["1900-01-01", f"2{date[2]}{date[1]}{date[3:10]}", f"{date[:5]}13{date[7:10]}"], rng
    )
    return {name: changed + date[10:]} if changed != date[:10] else None


def exact_duplicate(columns: Columns, _row: int, _rng: np.random.Generator) -> Changes | None:
    """Repeat a row of a table that has hardly any duplicates."""
    return {} if columns.n_duplicates <= MAX_DUPLICATES * len(columns.frame) else None


def near_duplicate(columns: Columns, row: int, rng: np.random.Generator) -> Changes | None:
    """Repeat a row with one number that is slightly different."""
    if columns.n_duplicates > MAX_DUPLICATES * len(columns.frame):
        return None
    name = _pick(columns.numbers, rng)
    if name is None or not np.isfinite(value := columns.value(row, name)) or value == 0:
        return None
    changed = columns.write(name, value * 1.01)
    return {name: changed} if changed != columns.cell(row, name) else None


KINDS: dict[str, Kind] = {
    "decimal slip": partial(_change_number, factors=(10, 100, 0.1, 0.01)),
    "wrong unit": partial(_change_number, factors=(12, 60, 1000, 2.54, 1 / 12, 1 / 60, 0.001)),
    "flipped sign": flipped_sign,
    "sentinel": sentinel,
    "transposed digits": transposed_digits,
    "wrong year": wrong_year,
    "swapped fields": swapped_fields,
    "typing error": partial(_respell, spell=_misspell, min_length=4),
    "other case": partial(_respell, spell=_change_case),
    "contradicting categories": contradicting_categories,
    "number against category": number_against_category,
    "broken sum": broken_sum,
    "broken order": broken_order,
    "impossible date": impossible_date,
    "exact duplicate": exact_duplicate,
    "near duplicate": near_duplicate,
}

ADDED_ROWS = ("exact duplicate", "near duplicate")
"""Kinds that add a row to the table instead of changing one."""
