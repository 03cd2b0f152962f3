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
SHORT_LENGTH, SHORT_RATIO = 4, 30  # shorter words, which are needed more often
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
        if not _is_slip(folded[variant], folded[value]):
            continue
        ratio = counts[value] / counts[variant]
        is_short = min(len(folded[variant]), len(folded[value])) < MIN_LENGTH
        if ratio >= (SHORT_RATIO if is_short else MIN_RATIO):
            if variant not in right or counts[right[variant]] < counts[value]:
                right[variant] = value
        elif counts[variant] >= MIN_COMMON:
            n_close += 1
    return {} if n_close > MAX_CLOSE_PAIRS * len(common) else right


def _is_slip(variant: str, value: str) -> bool:
    """Whether one text may be a typing error of the other, not another number, code or word.

    >>> _is_slip("calfornia", "california"), _is_slip("phase 1", "phase 2")
    (True, False)
    >>> _is_slip("group a", "group b"), _is_slip("type i", "type ii")
    (False, False)
    """
    from rapidfuzz.distance import OSA

    if re.sub(r"\D", "", variant) != re.sub(r"\D", "", value):
        return False
    own, others = (re.findall(r"[^\W\d_]+", text) for text in (variant, value))
    if len(own) != len(others):  # a space that is missing or too many
        own, others = ["".join(own)], ["".join(others)]
    pairs = [pair for pair in zip(own, others, strict=True) if pair[0] != pair[1]]
    if len(pairs) != 1:
        return False
    [(word, other)] = pairs
    length, distance = min(len(word), len(other)), OSA.distance(word, other)
    if length < SHORT_LENGTH:  # only swapped letters in a longer text
        return length == 3 and sorted(word) == sorted(other) and len(value) > MIN_LENGTH_OF_SWAP
    if word.rstrip("s") == other.rstrip("s"):
        return length >= MIN_LENGTH  # a plural
    return bool(distance == 1 or (distance == 2 and length >= MIN_LENGTH_OF_TWO))


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
