"""Find functional dependencies."""

from __future__ import annotations

import dataclasses
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from imboost.relations.dependency import DependencyRelation, as_text
from imboost.relations.evidence import MIN_SUPPORT, Evidence, codes_of, least_support
from imboost.relations.relation import Parsed, n_rows
from imboost.relations.rounding import rounding_unit

MAX_COLUMNS = 60  # columns that are compared, those with the fewest distinct values
MIN_GROUP_ROWS = 3  # rows with the same determinant that are needed to know what it decides
MIN_GROUP_SHARE = 0.66  # fraction of these rows with the same value
MIN_GROUPED = 0.5  # fraction of rows that are in such groups
MIN_GROUPED_ROWS = 50
MIN_GROUPS = 3  # values of the determinant that are needed as evidence
MIN_SAMPLE_SUPPORT = 0.95  # in the sample, whose groups are smaller
MAX_BY_CHANCE = 0.9  # support with the determinant shuffled
MIN_ROWS_OF_VALUE = 5  # a value in so many rows is not a spelling error
MAX_VIOLATION_RATIO = 0.1  # violations, relative to those with the determinant shuffled

Codes = NDArray[np.int64]


def find_dependencies(
    evidence: Evidence, columns: list[str], related: set[frozenset[str]]
) -> list[DependencyRelation]:
    """Return dependencies that do not follow from others.

    `related` are pairs of columns of which a sum computes one from the other.
    """
    sampled = {name: codes_of(evidence.sample[name]) for name in columns}
    n = n_rows(evidence.sample)
    kept = [name for name in columns if 2 <= _n_distinct(sampled[name]) <= n / 2]
    kept.sort(key=lambda name: _n_distinct(sampled[name]))
    names = [name for name in columns if name in kept[:MAX_COLUMNS]]
    measured = {name for name in names if _is_measured(evidence.sample[name])}
    codes: dict[str, Codes] = {}
    found: dict[tuple[str, str], DependencyRelation] = {}
    for determinant, target in permutations(names, 2):
        pair = frozenset((determinant, target))
        if determinant in measured or pair in related:
            continue
        if _n_distinct(sampled[determinant]) < _n_distinct(sampled[target]):
            continue
        first = _support(sampled[determinant], sampled[target], min_rows=2)
        if first is None or first < MIN_SAMPLE_SUPPORT:
            continue
        for name in (determinant, target):
            if name not in codes:
                codes[name] = codes_of(evidence.parsed[name])
        relation = _check(evidence, determinant, target, codes)
        if relation is not None:
            found[determinant, target] = relation
    return [
        relation
        for (determinant, target), relation in found.items()
        if not any(
            (determinant, name) in found
            and (name, target) in found
            and (name, determinant) not in found
            and (target, name) not in found
            for name in names
        )
    ]


def _is_measured(values: Any) -> bool:
    """Whether cells are numbers with decimals, which decide other columns only by accident."""
    return isinstance(values, np.ndarray) and rounding_unit(values) < 1


def _check(
    evidence: Evidence, determinant: str, target: str, codes: dict[str, Codes]
) -> DependencyRelation | None:
    """Return the dependency if it holds in nearly all rows and not by chance."""
    own, other = codes[determinant], codes[target]
    found = _support(own, other, MIN_GROUP_ROWS)
    if found is None or found < least_support(MIN_SUPPORT, evidence.parsed):
        return None
    by_chance = _support(evidence.rng.permutation(own), other, MIN_GROUP_ROWS) or 0.0
    if by_chance > MAX_BY_CHANCE or 1 - found > MAX_VIOLATION_RATIO * (1 - by_chance):
        return None
    groups, values, is_clear = _modes(own, other, MIN_GROUP_ROWS)
    if is_clear.sum() < MIN_GROUPS or len(np.unique(values[is_clear])) < 2:
        return None
    if _are_exceptions(own, other, groups[is_clear], values[is_clear]):
        return None
    relation = DependencyRelation(
        columns=(target, determinant),
        support=found,
        determinants=_texts(evidence.parsed, determinant, own, groups[is_clear]),
        values=_texts(evidence.parsed, target, other, values[is_clear]),
    )
    broken = float(np.mean(~relation.holds(evidence.parsed)))
    return dataclasses.replace(relation, support=1 - broken)


def _are_exceptions(own: Codes, other: Codes, groups: Codes, values: Codes) -> bool:
    """Whether most violations are values that no determinant decides, but many rows have."""
    expected = np.full(int(own.max()) + 2, -1)
    expected[groups] = values
    decided = expected[own]
    broken = other[(own >= 0) & (other >= 0) & (decided >= 0) & (decided != other)]
    counts = np.bincount(other[other >= 0])
    is_common = counts[broken] >= MIN_ROWS_OF_VALUE
    return bool(len(broken) and np.mean(is_common & ~np.isin(broken, values)) > 0.5)


def _support(determinant: Codes, target: Codes, min_rows: int) -> float | None:
    """Return the fraction of rows in large enough groups that have the value of their group."""
    known = (determinant >= 0) & (target >= 0)
    n = int(known.sum())
    groups, _, is_clear, sizes, tops = _groups(determinant[known], target[known], min_rows)
    is_large = sizes >= min_rows
    n_grouped = int(sizes[is_large].sum())
    if n_grouped < max(MIN_GROUPED_ROWS, MIN_GROUPED * n) or not len(groups) or not is_clear.any():
        return None
    return float(tops[is_large].sum() / n_grouped)


def _modes(
    determinant: Codes, target: Codes, min_rows: int
) -> tuple[Codes, Codes, NDArray[np.bool_]]:
    """Return the determinants, the most common value of each, and where it is clear."""
    known = (determinant >= 0) & (target >= 0)
    return _groups(determinant[known], target[known], min_rows)[:3]


def _groups(
    determinant: Codes, target: Codes, min_rows: int
) -> tuple[Codes, Codes, NDArray[np.bool_], Codes, Codes]:
    """Return of each determinant: code, most common value, whether clear, rows, rows with it."""
    width = int(target.max()) + 1 if len(target) else 1
    pairs, counts = np.unique(determinant * width + target, return_counts=True)
    own, other = pairs // width, pairs % width
    order = np.lexsort((counts, own))  # the most common value of each determinant last
    own, other, counts = own[order], other[order], counts[order]
    groups, first = np.unique(own, return_index=True)
    last = np.append(first[1:], len(own)) - 1
    sizes = np.add.reduceat(counts, first) if len(own) else counts
    is_clear = (sizes >= min_rows) & (counts[last] >= MIN_GROUP_SHARE * sizes)
    return groups, other[last], is_clear, sizes, counts[last]


def _texts(parsed: Parsed, name: str, codes: Codes, wanted: Codes) -> tuple[str, ...]:
    """Return the text of codes."""
    distinct, first = np.unique(codes, return_index=True)
    rows = first[np.searchsorted(distinct, wanted)]
    values = parsed[name]
    taken = values[rows] if isinstance(values, np.ndarray) else values.take(pa.array(rows))
    return tuple(as_text(taken).to_pylist())


def _n_distinct(codes: Codes) -> int:
    return int(codes.max(initial=-1)) + 1
