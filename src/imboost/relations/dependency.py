"""Functional dependencies: one column decides another, as a city decides its state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imboost.arrays import Indices, Mask
from imboost.facts import RuleKind
from imboost.relations.evidence import MIN_SUPPORT, Evidence, codes_of, least_support
from imboost.relations.numeric import rounding_unit
from imboost.relations.relation import Parsed, Relation, as_text, n_rows, take_rows

SEPARATOR = "\x1f"  # between the values of two deciding columns
MAX_COLUMNS = 60  # columns that are compared, those with the fewest distinct values
MAX_PAIRED_COLUMNS = 12  # columns of text whose pairs may decide others, the first ones
SCREENED_GROUP_ROWS = 20  # rows of each value of a determinant that a random sample should have
MIN_GROUP_ROWS = 3  # rows with the same determinant that are needed to know what it decides
MIN_GROUP_SHARE = 0.66  # fraction of these rows with the same value
MIN_GROUPED = 0.5  # fraction of rows that are in such groups
MIN_GROUPED_ROWS = 50
MIN_GROUPS = 3  # values of the determinant that are needed as evidence
MIN_SAMPLE_SUPPORT = 0.94  # in the sample, whose groups are smaller
MAX_BY_CHANCE = 0.9  # support with the determinant shuffled
MIN_ROWS_OF_VALUE = 5  # a value in so many rows is not a spelling error
MAX_VIOLATION_RATIO = 0.1  # violations, relative to those with the determinant shuffled
Codes = Indices


@dataclass(frozen=True, kw_only=True)
class DependencyRelation(Relation):
    """The second column, or the second and the third, decide the first.

    >>> rule = DependencyRelation(
    ...     columns=("state", "city"), support=1.0, determinants=("Fresno",), values=("CA",)
    ... )
    >>> cells = {"state": pa.chunked_array([["NV"]]), "city": pa.chunked_array([["Fresno"]])}
    >>> rule.expected(cells).to_pylist()
    ['CA']
    """

    determinants: tuple[str, ...]  # values of the deciding columns, joined by `SEPARATOR`
    values: tuple[str, ...]  # of the first column, one for each determinant

    kind: ClassVar[RuleKind] = RuleKind.DEPENDENCY

    def expected(self, parsed: Parsed) -> Any:
        """Return the target's text by the rule, null where the rule does not know it."""
        texts = (as_text(parsed[name]) for name in self.columns[1:])
        known, values = self._arrays
        index = pc.index_in(pc.binary_join_element_wise(*texts, SEPARATOR), known)
        return pa.chunked_array([values.take(index.combine_chunks())])

    @cached_property
    def _arrays(self) -> tuple[pa.Array, pa.Array]:
        return pa.array(self.determinants, pa.string()), pa.array(self.values, pa.string())


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
            (determinant, name) in found
            and (name, target) in found
            and (name, determinant) not in found
            and (target, name) not in found
            for name in names
        )
    ]
    return [*single, *_find_pairs(evidence, names, codes, set(found), related)]


def _find_pairs(
    evidence: Evidence,
    names: list[str],
    codes: dict[str, Codes],
    found: set[tuple[str, str]],
    related: set[frozenset[str]],
) -> Iterator[DependencyRelation]:
    """Yield columns that two columns of text decide, but neither of them alone."""
    texts = [name for name in names if not isinstance(evidence.sample[name], np.ndarray)]
    for pair in combinations(texts[:MAX_PAIRED_COLUMNS], 2):
        joined = _join(codes, pair)
        if {pair, pair[::-1]} & found or _n_distinct(joined) > len(joined) / MIN_GROUP_ROWS:
            continue
        targets = [
            name
            for name in names
            if name not in pair
            and not any((one, name) in found or frozenset((one, name)) in related for one in pair)
        ]
        yield from _decided(evidence, pair, targets, codes)


def _decided(
    evidence: Evidence, determinants: tuple[str, ...], targets: list[str], codes: dict[str, Codes]
) -> Iterator[DependencyRelation]:
    """Yield the dependencies of some columns on others, screened on some of the rows."""
    joined = _join(codes, determinants)
    rows = _screened_rows(evidence, joined)
    for target in targets:
        screened = _support(joined[rows], codes[target][rows], min_rows=2)
        if screened is not None and screened >= MIN_SAMPLE_SUPPORT:
            relation = _check(evidence, determinants, target, joined, codes[target])
            if relation is not None:
                yield relation


def _screened_rows(evidence: Evidence, codes: Codes) -> Indices:
    """Return the rows on which a determinant is screened.

    In a random sample, each of many values would have too few rows; then all rows of a few values
    are taken.
    """
    n = _n_distinct(codes)
    if n <= len(evidence.rows) / SCREENED_GROUP_ROWS:
        return evidence.rows
    n_values = max(1, n * len(evidence.rows) // len(codes))
    return np.flatnonzero(np.isin(codes, evidence.rng.permutation(n)[:n_values]))


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
    evidence: Evidence, determinants: tuple[str, ...], target: str, own: Codes, other: Codes
) -> DependencyRelation | None:
    """Return the dependency if it holds in nearly all rows and not by chance.

    `own` are the codes of the determinants, `other` those of the target.
    """
    found = _support(own, other, MIN_GROUP_ROWS)
    if found is None or found < least_support(MIN_SUPPORT, evidence.parsed):
        return None
    by_chance = _support(evidence.rng.permutation(own), other, MIN_GROUP_ROWS) or 0.0
    if by_chance > MAX_BY_CHANCE or 1 - found > MAX_VIOLATION_RATIO * (1 - by_chance):
        return None
    all_groups, modes, is_clear, _, _ = _groups(own, other, MIN_GROUP_ROWS)
    groups, values = all_groups[is_clear], modes[is_clear]
    if len(groups) < MIN_GROUPS or len(np.unique(values)) < 2:
        return None
    if _are_exceptions(own, other, groups, values):
        return None
    relation = DependencyRelation(
        columns=(target, *determinants),
        support=found,
        determinants=_texts(evidence.parsed, determinants, own, groups),
        values=_texts(evidence.parsed, (target,), other, values),
    )
    return replace(relation, support=1 - float(np.mean(~relation.holds(evidence.parsed))))


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
    _, _, is_clear, sizes, tops = _groups(determinant, target, min_rows)
    is_large = sizes >= min_rows
    n_grouped = int(sizes[is_large].sum())
    if n_grouped < max(MIN_GROUPED_ROWS, MIN_GROUPED * sizes.sum()) or not is_clear.any():
        return None
    return float(tops[is_large].sum() / n_grouped)


def _groups(
    determinant: Codes, target: Codes, min_rows: int
) -> tuple[Codes, Codes, Mask, Codes, Codes]:
    """Return of each determinant: code, most common value, whether clear, rows, rows with it."""
    known = (determinant >= 0) & (target >= 0)
    width = _n_distinct(target) or 1
    pairs, counts = np.unique(determinant[known] * width + target[known], return_counts=True)
    own, other = np.divmod(pairs, width)
    order = np.lexsort((counts, own))  # the most common value of each determinant last
    own, other, counts = own[order], other[order], counts[order]
    groups, first = np.unique(own, return_index=True)
    last = np.append(first, len(own))[1:] - 1
    sizes = np.add.reduceat(counts, first) if len(own) else counts
    is_clear = (sizes >= min_rows) & (counts[last] >= MIN_GROUP_SHARE * sizes)
    return groups, other[last], is_clear, sizes, counts[last]


def _texts(parsed: Parsed, names: tuple[str, ...], codes: Codes, wanted: Codes) -> tuple[str, ...]:
    """Return the texts of codes, those of several columns joined."""
    distinct, first = np.unique(codes, return_index=True)
    taken = take_rows(
        {name: parsed[name] for name in names}, first[np.searchsorted(distinct, wanted)]
    )
    texts = zip(*(as_text(values).to_pylist() for values in taken.values()), strict=True)
    return tuple(SEPARATOR.join(parts) for parts in texts)


def _n_distinct(codes: Codes) -> int:
    return int(codes.max(initial=-1)) + 1
