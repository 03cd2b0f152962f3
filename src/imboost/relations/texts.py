"""Texts of a column: right spellings, and formats of codes such as AA-9999."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Mask
from imboost.facts import RuleKind
from imboost.relations.evidence import MIN_ROWS, MIN_SUPPORT
from imboost.relations.relation import LookupRelation, Parsed, Relation, n_rows
from imboost.tables.cells import value_counts

MAX_VALUES = 3000  # distinct values up to which typing errors are searched
MIN_RATIO = 4  # how many times more common the right spelling of a typing error is
MIN_COMMON = 4  # rows that a right spelling has at least
MAX_VARIANT_SHARE = 0.02  # of the rows that a typing error has at most
MIN_LENGTH = 5  # letters of a word in which one letter may be wrong
SHORT_LENGTH = 4  # letters of a word whose right spelling must be more common, as follows
MIN_LENGTH_OF_LETTER = 7  # letters of a word in which a replaced letter is as clear as others
SHORT_RATIO = 8  # if a letter is missing, added or swapped
REPLACED_RATIO = 30  # if a letter is replaced
TINY_RATIO = 20  # if a letter is missing, added or swapped in an even shorter word of a text
MIN_LENGTH_OF_TWO = 10  # letters of a word in which two letters may be wrong
MIN_LENGTH_OF_SWAP = 8  # letters of a text in which letters of a short word may be swapped
MAX_CLOSE_PAIRS = 0.05  # close pairs per common value; more of them mean that close is not wrong
MIN_DISTINCT_CODES = 20  # codes from which a common pattern is no accident


class SpellingRelation(LookupRelation):
    """Values of a column that are other spellings of more common ones.

    >>> rule = SpellingRelation(columns=("city",), keys=("Bonnn",), values=("Bonn",))
    >>> rule.expected({"city": pa.chunked_array([["Bonnn"]])}).to_pylist()
    ['Bonn']
    """

    kind: ClassVar[RuleKind] = RuleKind.SPELLING


def find_spelling_relations(parsed: Parsed) -> Iterator[SpellingRelation]:
    """Yield one relation for each column of categories that has other spellings."""
    for name, values in parsed.items():
        if isinstance(values, np.ndarray):
            continue
        counts = value_counts(values)
        if right := find_variants(counts):
            n_wrong = sum(counts[variant] for variant in right)
            yield SpellingRelation(
                columns=(name,),
                support=1 - n_wrong / max(sum(counts.values()), 1),
                keys=tuple(right),
                values=tuple(right.values()),
            )


def find_variants(counts: dict[str, int]) -> dict[str, str]:
    """Return the values that are other spellings of more common ones, with these.

    >>> find_variants({"north": 50, "NORTH": 1, "nroth": 1, "south": 40})
    {'NORTH': 'north', 'nroth': 'north'}
    """
    return _same_when_normalized(counts) | _typing_errors(counts)


def _same_when_normalized(counts: dict[str, int]) -> dict[str, str]:
    """Return variants that differ in case, accents, spaces and signs alone."""
    groups: dict[str, list[str]] = {}
    for value in counts:
        if key := _normalize(value):
            groups.setdefault(key, []).append(value)
    right = {}
    for key, values in groups.items():
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
    rare = [value for value, n in counts.items() if n <= max(MAX_VARIANT_SHARE * total, 1)]
    if not common or not rare or len(counts) > MAX_VALUES:
        return {}
    wrong, right = [_fold(value) for value in rare], [_fold(value) for value in common]
    distances = cdist(wrong, right, scorer=OSA.distance, score_cutoff=2, dtype=np.uint8)
    found: dict[str, str] = {}
    n_close = 0
    for at, to in np.argwhere((distances > 0) & (distances <= 2)):
        variant, value = rare[at], common[to]
        needed = _needed_ratio(wrong[at], right[to])
        if counts[value] >= needed * counts[variant]:
            if variant not in found or counts[found[variant]] < counts[value]:
                found[variant] = value
        elif needed < np.inf and counts[variant] >= MIN_COMMON:
            n_close += 1
    return {} if n_close > MAX_CLOSE_PAIRS * len(common) else found


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
    words, others = (re.findall(r"[^\W\d_]+", text) for text in (variant, value))
    if len(words) != len(others):  # a space that is missing or too many
        words, others = ["".join(words)], ["".join(others)]
    pairs = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
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
    return " ".join("".join(sign for sign in letters if not unicodedata.combining(sign)).split())


def _normalize(value: str) -> str:
    """Return text without case, accents, spaces and signs between letters.

    >>> _normalize("North-West") == _normalize("north west")
    True
    """
    folded = _fold(value)
    # Signs beside digits matter, as in 1.5, 1-5 and -1; so do + and <.
    return re.sub(r"(?<!\d)[\s_.\-/,']+(?!\d)", "", folded)


@dataclass(frozen=True, kw_only=True)
class FormatRelation(Relation):
    """All codes of a column have one pattern of letters, digits and signs.

    >>> rule = FormatRelation(columns=("code",), pattern="AA-99", has_lengths=True)
    >>> rule.holds({"code": pa.chunked_array([["DE-12", "D-123", None]])}).tolist()
    [True, False, True]
    """

    pattern: str  # A for capital letters, a for small ones, 9 for digits
    has_lengths: bool  # otherwise one A, a or 9 stands for one or more

    kind: ClassVar[RuleKind] = RuleKind.FORMAT

    def formula(self) -> str:
        """Return the pattern."""
        return self.pattern

    def holds(self, parsed: Parsed) -> Mask:
        """Return in which rows the code has the pattern."""
        has_pattern = pc.equal(patterns(parsed[self.target], self.has_lengths), self.pattern)
        return np.asarray(pc.fill_null(has_pattern, True))

    def expected(self, parsed: Parsed) -> Any:
        """Return nulls: a format does not know the code."""
        return pa.chunked_array([pa.nulls(n_rows(parsed), pa.string())])


def patterns(text: pa.ChunkedArray, has_lengths: bool) -> pa.ChunkedArray:
    """Return the pattern of each text.

    >>> patterns(pa.chunked_array([["Ab-1234"]]), True).to_pylist()
    ['Aa-9999']
    >>> patterns(pa.chunked_array([["ABC-1234"]]), False).to_pylist()
    ['A-9']
    """
    repeated = "" if has_lengths else "+"
    for letters, sign in ((r"\p{Lu}", "A"), (r"\p{Ll}", "a"), (r"\p{Nd}", "9")):
        text = pc.replace_substring_regex(text, letters + repeated, sign)
    return text


def find_formats(parsed: Parsed) -> Iterator[FormatRelation]:
    """Yield the formats of columns of codes that contain digits."""
    for name, values in parsed.items():
        if isinstance(values, np.ndarray):
            continue
        text = values.drop_null()
        if len(text) < MIN_ROWS or pc.count_distinct(text).as_py() < MIN_DISTINCT_CODES:
            continue
        for has_lengths in (True, False):
            counts = value_counts(patterns(text, has_lengths))
            pattern, n = max(counts.items(), key=lambda item: item[1])
            is_of_codes = "9" in pattern  # not of words
            if set(pattern) == {"9"}:  # numbers, unless some begin with 0
                is_of_codes = has_lengths and pc.any(pc.starts_with(text, "0")).as_py()
            if n / len(text) >= MIN_SUPPORT and is_of_codes:
                yield FormatRelation(
                    columns=(name,),
                    support=n / len(text),
                    pattern=pattern,
                    has_lengths=has_lengths,
                )
                break
