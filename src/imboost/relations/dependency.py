"""Functional dependencies: one column decides another, as a city decides its state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import ClassVar

import numpy as np

from imboost.arrays import Indices
from imboost.facts import RuleKind
from imboost.relations.evidence import MIN_SUPPORT, Evidence, codes_of, least_support
from imboost.relations.numeric import rounding_unit
from imboost.relations.relation import (
    SEPARATOR,
    LookupRelation,
    Parsed,
    as_text,
    n_rows,
    take_rows,
)

MAX_COLUMNS = 60  # columns that are compared, those with the fewest distinct values
MAX_PAIRED_COLUMNS = 12  # columns of text whose pairs may decide others, the first ones
SCREENED_GROUP_ROWS = 20  # rows of each value of a determinant that a random sample should have
MIN_GROUP_ROWS = 3  # rows with the same determinant that are needed to know what it decides
MIN_GROUP_SHARE = 0.66  # share of these rows with the same value
MIN_GROUPED = 0.5  # share of rows that are in such groups
MIN_GROUPED_ROWS = 50
MIN_GROUPS = 3  # values of the determinant that are needed as evidence
MIN_SAMPLE_SUPPORT = 0.94  # in the sample, whose groups are smaller
MAX_BY_CHANCE = 0.9  # support with the determinant shuffled
MIN_ROWS_OF_VALUE = 5  # a value in so many rows is not a spelling error
MAX_VIOLATION_RATIO = 0.1  # violations, relative to those with the determinant shuffled
Codes = Indices


class DependencyRelation(LookupRelation):
    """The second column, or the second and the third, decide the first.

    >>> import pyarrow as pa
    >>> rule = DependencyRelation(columns=("state", "city"), keys=("Fresno",), values=("CA",))
    >>> cells = {"state": pa.chunked_array([["NV"]]), "city": pa.chunked_array([["Fresno"]])}
    >>> rule.expected(cells).to_pylist()
    ['CA']
    """

    kind: ClassVar[RuleKind] = RuleKind.DEPENDENCY


def find_dependencies(
    evidence: Evidence, columns: list[str], related: set[frozenset[str]]
) -> list[DependencyRelation]:
    """Return dependencies that do not follow from others.

    `related` are pairs of columns of which a sum computes one from the other.
    """
    codes = {name: codes_of(evidence.parsed[name]) for name in columns}
    n = n_rows(evidence.parsed)
    kept = [name for name in columns if 2 <= _n_distinct(codes[name]) <= n / 2]
    kept.sort(key=lambda name: _n_distinct(codes[name]))
    names = [name for name in columns if name in kept[:MAX_COLUMNS]]
    n_common = {
        name: int((np.bincount(codes[name] + 1)[1:] >= MIN_ROWS_OF_VALUE).sum()) for name in names
    }
    found: dict[tuple[str, str], DependencyRelation] = {}
    for determinant in names:
        values = evidence.sample[determinant]
        # Numbers with decimals decide other columns only by accident.
        is_measured = isinstance(values, np.ndarray) and rounding_unit(values) < 1
        targets = [
            name
            for name in names
            if not is_measured
            and name != determinant
            and frozenset((determinant, name)) not in related
            and _n_distinct(codes[determinant]) >= n_common[name]
        ]
        for relation in _decided(evidence, (determinant,), targets, codes):
            found[determinant, relation.target] = relation
    single = [
        relation
        for (determinant, target), relation in found.items()
        if not any(
            {(determinant, name), (name, target)} <= found.keys()
            and not {(name, determinant), (target, name)} & found.keys()
            for name in names
        )
    ]
    # What two columns of text decide, but neither of them alone.
    texts = [name for name in names if not isinstance(evidence.sample[name], np.ndarray)]
    pairs: list[DependencyRelation] = []
    for pair in combinations(texts[:MAX_PAIRED_COLUMNS], 2):
        joined = _join(codes, pair)
        if {pair, pair[::-1]} & found.keys() or _n_distinct(joined) > len(joined) / MIN_GROUP_ROWS:
            continue
        targets = [
            name
            for name in names
            if name not in pair
            and not any((by, name) in found or frozenset((by, name)) in related for by in pair)
        ]
        pairs += _decided(evidence, pair, targets, codes)
    return [*single, *pairs]


def _decided(
    evidence: Evidence, determinants: tuple[str, ...], targets: list[str], codes: dict[str, Codes]
) -> Iterator[DependencyRelation]:
    """Yield the dependencies of some columns on others, screened on some of the rows."""
    joined = _join(codes, determinants)
    rows, n = evidence.rows, _n_distinct(joined)
    if n > len(rows) / SCREENED_GROUP_ROWS:
        # In a random sample, each of many values would have too few rows: all rows of some values.
        n_values = max(1, n * len(rows) // len(joined))
        rows = np.flatnonzero(np.isin(joined, evidence.rng.permutation(n)[:n_values]))
    for target in targets:
        screened, _, _ = _groups(joined[rows], codes[target][rows], min_rows=2)
        if screened >= MIN_SAMPLE_SUPPORT:
            relation = _check(evidence, determinants, target, joined, codes[target])
            if relation is not None:
                yield relation


def _join(codes: dict[str, Codes], names: tuple[str, ...]) -> Codes:
    """Return the codes of one or two columns together, -1 where one is missing."""
    if len(names) == 1:
        return codes[names[0]]
    first, second = (codes[name] for name in names)
    known = (first >= 0) & (second >= 0)
    joined = np.full(len(first), -1, dtype=np.int64)
    pairs = first[known] * (_n_distinct(second) + 1) + second[known]
    joined[known] = np.unique(pairs, return_inverse=True)[1]
    return joined


def _check(
    evidence: Evidence, determinants: tuple[str, ...], target: str, keys: Codes, other: Codes
) -> DependencyRelation | None:
    """Return the dependency if it holds in nearly all rows and not by chance.

    `keys` are the codes of the determinants, `other` those of the target.
    """
    support, groups, values = _groups(keys, other, MIN_GROUP_ROWS)
    if support < least_support(MIN_SUPPORT, evidence.parsed):
        return None
    by_chance, _, _ = _groups(evidence.rng.permutation(keys), other, MIN_GROUP_ROWS)
    if by_chance > MAX_BY_CHANCE or 1 - support > MAX_VIOLATION_RATIO * (1 - by_chance):
        return None
    if len(groups) < MIN_GROUPS or len(np.unique(values)) < 2:
        return None
    if _are_exceptions(keys, other, groups, values):
        return None
    relation = DependencyRelation(
        columns=(target, *determinants),
        keys=_texts(evidence.parsed, determinants, keys, groups),
        values=_texts(evidence.parsed, (target,), other, values),
    )
    return replace(relation, support=float(relation.holds(evidence.parsed).mean()))


def _are_exceptions(keys: Codes, other: Codes, groups: Codes, values: Codes) -> bool:
    """Whether most violations are values that no determinant decides, but many rows have."""
    expected = np.full(int(keys.max()) + 2, -1)
    expected[groups] = values
    decided = expected[keys]
    broken = other[(keys >= 0) & (other >= 0) & (decided >= 0) & (decided != other)]
    counts = np.bincount(other[other >= 0])
    is_common = counts[broken] >= MIN_ROWS_OF_VALUE
    return bool(len(broken) and np.mean(is_common & ~np.isin(broken, values)) > 0.5)


def _groups(keys: Codes, other: Codes, min_rows: int) -> tuple[float, Codes, Codes]:
    """Return the share of rows that have the value of their group, and the clear groups.

    Only groups of at least `min_rows` rows count; the share is 0 where these are too few. Of the
    groups in which one value is clear, the codes and these values are returned.
    """
    known = (keys >= 0) & (other >= 0)
    width = _n_distinct(other) or 1
    pairs, counts = np.unique(keys[known] * width + other[known], return_counts=True)
    groups, values = np.divmod(pairs, width)
    order = np.lexsort((counts, groups))  # the most common value of each group last
    groups, values, counts = groups[order], values[order], counts[order]
    groups, first = np.unique(groups, return_index=True)
    last = np.append(first, len(order))[1:] - 1
    sizes = np.add.reduceat(counts, first) if len(order) else counts
    values, counts, is_large = values[last], counts[last], sizes >= min_rows
    is_clear = is_large & (counts >= MIN_GROUP_SHARE * sizes)
    n_grouped = int(sizes[is_large].sum())
    if n_grouped < max(MIN_GROUPED_ROWS, MIN_GROUPED * sizes.sum()) or not is_clear.any():
        return 0.0, groups[:0], values[:0]
    return float(counts[is_large].sum() / n_grouped), groups[is_clear], values[is_clear]


def _texts(parsed: Parsed, names: tuple[str, ...], codes: Codes, wanted: Codes) -> tuple[str, ...]:
    """Return the texts of codes, those of several columns joined."""
    distinct, first = np.unique(codes, return_index=True)
    rows = first[np.searchsorted(distinct, wanted)]
    taken = take_rows({name: parsed[name] for name in names}, rows)
    texts = zip(*(as_text(values).to_pylist() for values in taken.values()), strict=True)
    return tuple(map(SEPARATOR.join, texts))


def _n_distinct(codes: Codes) -> int:
    return int(codes.max(initial=-1)) + 1
