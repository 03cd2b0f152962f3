"""Other spellings of a category: upper and lower case, spaces, signs and typing errors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.findings.finding import CheckedTable, Finding
from imboost.reporting.formatting import count
from imboost.tables.cells import is_text
from imboost.tables.roles import Role

MAX_VALUES = 3000  # distinct values up to which typing errors are searched
MIN_RATIO = 4  # how many times more common the right spelling of a typing error is
MIN_COMMON = 4  # rows that a right spelling has at least
MAX_VARIANT_FRACTION = 0.02  # of the rows that a typing error has at most
MIN_LENGTH = 5  # letters of a word in which one letter may be wrong
SHORT_LENGTH = 4  # letters of a word whose right spelling must be more common, as follows
MIN_LENGTH_OF_LETTER = 7  # letters of a word in which a replaced letter is as clear as others
SHORT_RATIO = 8  # if a letter is missing, added or swapped
REPLACED_RATIO = 30  # if a letter is replaced
TINY_RATIO = 20  # if a letter is missing, added or swapped in an even shorter word of a text
MIN_LENGTH_OF_TWO = 10  # letters of a word in which two letters may be wrong
MIN_LENGTH_OF_SWAP = 8  # letters of a text in which letters of a short word may be swapped
MAX_CLOSE_PAIRS = 0.05  # close pairs per common value; more of them mean that close is not wrong
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
        right = _same_when_normalized(counts) | _typing_errors(counts)
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


def _same_when_normalized(counts: dict[str, int]) -> dict[str, str]:
    """Return variants that differ in case, accents, spaces and signs alone."""
    groups: dict[str, list[str]] = {}
    for value in counts:
        groups.setdefault(_normalize(value), []).append(value)
    right = {}
    for key, values in groups.items():
        if len(values) < 2 or not key:
            continue
        best = max(values, key=lambda value: (counts[value], value))
        for value in values:
            # One letter in upper and in lower case may be two codes.
            if value != best and (len(key) > 2 or counts[best] >= 10 * counts[value]):
                right[value] = best
    return right


def _typing_errors(counts: dict[str, int]) -> dict[str, str]:
    """Return rare values that differ from a common one by one or two letters."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    total = sum(counts.values())
    common = [value for value, n in counts.items() if n >= MIN_COMMON]
    rare = [value for value, n in counts.items() if n <= max(MAX_VARIANT_FRACTION * total, 1)]
    if not common or not rare or len(counts) > MAX_VALUES:
        return {}
    folded = {value: _fold(value) for value in counts}
    distances = cdist(
        [folded[value] for value in rare],
        [folded[value] for value in common],
        scorer=OSA.distance,
        score_cutoff=2,
        dtype=np.uint8,
    )
    right: dict[str, str] = {}
    n_close = 0
    for at, to in np.argwhere((distances > 0) & (distances <= 2)):
        variant, value = rare[at], common[to]
        needed = _needed_ratio(folded[variant], folded[value])
        if counts[value] >= needed * counts[variant]:
            if variant not in right or counts[right[variant]] < counts[value]:
                right[variant] = value
        elif needed < np.inf and counts[variant] >= MIN_COMMON:
            n_close += 1
    return {} if n_close > MAX_CLOSE_PAIRS * len(common) else right


def _needed_ratio(variant: str, value: str) -> float:
    """Return how many times more common a value must be if the other is its misspelling.

    It is infinite if the texts are rather different numbers, codes or words.

    >>> _needed_ratio("calfornia", "california"), _needed_ratio("nrth", "north")
    (4, 8)
    >>> _needed_ratio("phase 1", "phase 2"), _needed_ratio("group a", "group b")
    (inf, inf)
    >>> _needed_ratio("type i", "type ii"), _needed_ratio("class pan", "class pal")
    (inf, inf)
    """
    from rapidfuzz.distance import OSA

    if re.sub(r"\D", "", variant) != re.sub(r"\D", "", value):
        return np.inf
    own, others = (re.findall(r"[^\W\d_]+", text) for text in (variant, value))
    if len(own) != len(others):  # a space that is missing or too many
        own, others = ["".join(own)], ["".join(others)]
    pairs = [pair for pair in zip(own, others, strict=True) if pair[0] != pair[1]]
    if len(pairs) != 1:
        return np.inf
    [(word, other)] = pairs
    length, distance = min(len(word), len(other)), OSA.distance(word, other)
    if distance == 2:
        return MIN_RATIO if length >= MIN_LENGTH_OF_TWO else np.inf
    is_replaced = len(word) == len(other) and sorted(word) != sorted(other)
    if length >= MIN_LENGTH:
        return SHORT_RATIO if is_replaced and length < MIN_LENGTH_OF_LETTER else MIN_RATIO
    if length == SHORT_LENGTH:
        return REPLACED_RATIO if is_replaced else SHORT_RATIO
    is_code = is_replaced or len(set(word + other)) == 1 or re.fullmatch("[ivx]+", word + other)
    is_long = len(value) >= MIN_LENGTH and len(word + other) > SHORT_LENGTH
    is_swapped = len(word) == len(other) == 2 and len(value) >= MIN_LENGTH_OF_SWAP
    return np.inf if is_code or not (is_long or is_swapped) else TINY_RATIO


def _fold(value: str) -> str:
    """Return text without accents, in lower case, with single spaces.

    >>> _fold("  São  Paulo")
    'sao paulo'
    """
    letters = unicodedata.normalize("NFKD", value).casefold()
    return " ".join("".join(one for one in letters if not unicodedata.combining(one)).split())


def _normalize(value: str) -> str:
    """Return text without case, accents, spaces and signs between letters.

    >>> _normalize("North-West") == _normalize("north west")
    True
    """
    folded = _fold(value)
    # Signs beside digits matter, as in 1.5, 1-5 and -1; so do + and <.
    return re.sub(r"(?<!\d)[\s_.\-/,']+(?!\d)", "", folded)


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
