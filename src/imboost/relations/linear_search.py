"""Find sums, differences, multiples and equal columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from imboost.arrays import Floats, Indices, Mask
from imboost.relations.evidence import Evidence, numeric_matrix, support, varying
from imboost.relations.linear import SECONDS, LinearRelation
from imboost.relations.rounding import rounding_unit

MAX_COLUMNS = 100  # columns that are searched, the first ones
MAX_PAIRED_COLUMNS = 30  # columns up to which sums of four columns are searched
MAX_SCALED_COLUMNS = 40  # columns up to which one addend may have a factor
FACTORS = (1.0, 10.0, 12.0, 60.0, 100.0, 1000.0)  # of an addend
SCREENED_ROWS = 96  # rows of the sample on which candidates are screened
MIN_SCREENED = 0.7  # fraction of these rows in which a candidate holds
MIN_NONTRIVIAL = 8  # rows in which enough cells are not 0
MAX_CANDIDATES = 400  # that are checked on more rows, the best screened
MAX_ADDED = 3  # columns that are added to a sum to explain the rows in which it fails
MIN_EXPLAINED = 0.5  # fraction of the failing rows that an added column explains

Terms = dict[str, float]  # coefficients by column; the sum of all terms is a constant
Candidate = tuple[Terms, float]  # terms and constant


def find_sums(evidence: Evidence, numbers: list[str], times: list[str]) -> list[LinearRelation]:
    """Return relations between numbers, and between times and numbers, none implied by others."""
    search = _Search(evidence, numbers, times)
    for find in (search.multiples, search.sums_of_two, search.runs, search.sums_of_three):
        for terms, constant in find():
            search.add(terms, constant)
    for terms, constant in search.durations():
        search.add(terms, constant)
    return search.found


class _Search:
    """Candidates screened on a few rows, checked on all, and kept if they are new."""

    def __init__(self, evidence: Evidence, numbers: list[str], times: list[str]) -> None:
        self.evidence = evidence
        self.found: list[LinearRelation] = []
        self.times = frozenset(times)
        self._everywhere = [*numbers, *times]
        self._vectors: list[Floats] = []
        self._numbers = numbers
        self.names = varying(evidence.sample, numbers)[:MAX_COLUMNS]
        self._clocks = varying(evidence.sample, times)[:MAX_COLUMNS]
        self.X = self._matrix(self.names)
        self.half = np.array([rounding_unit(evidence.sample[name]) / 2 for name in self.names])

    def _matrix(self, names: list[str]) -> Floats:
        """Return the screened rows (rows, columns)."""
        if not names:
            return np.zeros((0, 0))
        return numeric_matrix(self.evidence.sample, names)[_screened_rows(self.evidence)]

    def add(self, terms: Terms, constant: float) -> None:
        """Check a candidate; keep it, or one with more columns, if it says something new."""
        if not self._is_new(terms, constant):
            return
        relation = self._relation(terms, constant)
        checked, extended = None, relation
        for _ in range(MAX_ADDED + 1):
            checked = self._check(extended, _min_informative(terms))
            if checked is not None and checked.support == 1:
                break
            added = self._missing_term(extended, terms)
            if added is None:
                break
            terms = {**terms, **added}
            extended = self._relation(terms, constant)
        if checked is None or not self._is_new(terms, constant):
            return
        self._vectors.append(self._vector(terms, constant))
        self.found.append(checked)

    def _check(self, relation: LinearRelation, min_informative: float) -> LinearRelation | None:
        """Return the relation with its support, with exact inputs if it holds so too."""
        exact = dataclasses.replace(relation, has_exact_inputs=True)
        for form in (exact, relation):
            checked = self.evidence.check(form, min_informative=min_informative)
            if checked is not None:
                return checked
        return None

    def multiples(self) -> Iterator[Candidate]:
        """Yield pairs of columns of which one is the other, times and plus a constant."""
        first, second = np.array_split(self.evidence.rng.permutation(len(self.X)), 2)
        D = self.X[first[: len(second)]] - self.X[second[: len(first)]]
        with np.errstate(all="ignore"):
            for a, b in combinations(range(len(self.names)), 2):
                slopes = D[:, a] / D[:, b]
                slopes = slopes[np.isfinite(slopes) & (slopes != 0)]
                if len(slopes) < MIN_NONTRIVIAL:
                    continue
                factor = float(np.median(slopes))
                if np.mean(np.abs(slopes / factor - 1) < 0.3) < 0.5:
                    continue
                yield from self._refined(a, b, factor)

    def _refined(self, a: int, b: int, factor: float) -> Iterator[Candidate]:
        """Yield the line with the fewest digits through the rows of two columns."""
        x, y = self.X[:, b], self.X[:, a]
        known = np.isfinite(x) & np.isfinite(y)
        x, y = x[known], y[known]
        for _ in range(3):
            difference = y - factor * x
            distance = np.abs(difference - np.median(difference))
            kept = distance <= 3 * np.median(distance) + 2 * self.half[a]
            if kept.sum() < MIN_NONTRIVIAL or np.ptp(x[kept]) == 0:
                return
            factor = float(np.polyfit(x[kept], y[kept], 1)[0])
        if factor == 0:
            return
        limit = 1.001 * (self.half[a] + abs(factor) * self.half[b]) + 1e-6 * np.abs(y)
        for digits in range(1, 9):
            k = float(f"{factor:.{digits}g}")
            c = float(np.median(y - k * x))
            c = round(c, 6) if self.half[a] == 0 else float(_to_unit(c, 2 * self.half[a]))
            c = 0.0 if abs(c) <= self.half[a] else c
            if np.mean(np.abs(y - k * x - c) <= limit) >= MIN_SCREENED:
                yield self._line(a, b, k, c)
                return

    def _line(self, a: int, b: int, k: float, c: float) -> Candidate:
        """Return a line with the more coarsely rounded column as target."""
        if abs(k) * self.half[b] > self.half[a] and abs(k) != 1:
            a, b, k, c = b, a, 1 / k, -c / k
        return {self.names[a]: 1.0, self.names[b]: -k}, c

    def sums_of_two(self) -> Iterator[Candidate]:
        """Yield columns that are the sum of two others, the first one times a factor.

        A factor joins the digits of times such as 1435, or minutes and seconds.
        """
        X, half, m = self.X, self.half, len(self.names)
        size, nonzero = np.abs(np.nan_to_num(X)), (np.nan_to_num(X) != 0).astype(np.int8)
        is_known = np.isfinite(X)
        found: list[tuple[float, Candidate]] = []
        factors = FACTORS if m <= MAX_SCALED_COLUMNS else (1.0,)
        for factor, b in product(factors, range(m)):
            rest = np.arange(b + 1, m) if factor == 1 else np.delete(np.arange(m), b)
            sums = (factor * X[:, [b]] + X[:, rest])[:, :, None]  # (rows, addends, 1)
            halves = factor * half[b] + half[rest][:, None] + half
            holds = np.abs(sums - X[:, None, :]) <= 1e-6 * size[:, None, :] + 1.001 * halves
            counts = nonzero[:, [b], None] + nonzero[:, rest][:, :, None] + nonzero[:, None, :]
            matters = (counts >= 2) & np.isfinite(sums) & is_known[:, None, :]
            for c, a, rate in _screen(holds, matters):
                if a not in (b, rest[c]):
                    names = self.names[a], self.names[b], self.names[rest[c]]
                    terms = dict(zip(names, (1.0, -factor, -1.0), strict=True))
                    found.append((rate, (terms, 0.0)))
        yield from _best(found)

    def sums_of_three(self) -> Iterator[Candidate]:
        """Yield sums of two columns that are the sum or the difference of two others."""
        m = len(self.names)
        if m > MAX_PAIRED_COLUMNS:
            return
        X, half, names = self.X, self.half, self.names
        pairs = np.array(list(combinations(range(m), 2)), dtype=np.int64).reshape(-1, 2)
        if not len(pairs):
            return
        left, right = np.concatenate([pairs, pairs, pairs[:, ::-1]]).T  # sums, then differences
        signs = np.repeat([1.0, -1.0], [len(pairs), 2 * len(pairs)])
        others = X[:, left] + signs * X[:, right]  # (rows, pairs)
        other_half = half[left] + half[right]
        nonzero = (np.nan_to_num(X) != 0).astype(np.int8)
        other_nonzero = nonzero[:, left] + nonzero[:, right]
        size = 1e-6 * (np.abs(np.nan_to_num(X[:, left])) + np.abs(np.nan_to_num(X[:, right])))
        found: list[tuple[float, Candidate]] = []
        for i, j in pairs:
            disjoint = ~np.isin(left, (i, j)) & ~np.isin(right, (i, j))
            disjoint &= (signs < 0) | (left > i)
            at = np.flatnonzero(disjoint)
            sums = (X[:, i] + X[:, j])[:, None]
            limit = size[:, at] + 1.001 * (other_half[at] + half[i] + half[j])
            holds = np.abs(sums - others[:, at]) <= limit
            counts = (nonzero[:, i] + nonzero[:, j])[:, None] + other_nonzero[:, at]
            matters = (counts >= 3) & np.isfinite(sums) & np.isfinite(others[:, at])
            for _, column, rate in _screen(holds[:, None], matters[:, None]):
                k, sign = at[column], signs[at[column]]
                terms = {names[left[k]]: 1.0, names[right[k]]: float(sign)}
                terms |= {names[i]: -1.0, names[j]: -1.0}
                found.append((rate, (terms, 0.0)))
        yield from _best(found)

    def runs(self) -> Iterator[Candidate]:
        """Yield columns that are the sum of at least three neighbouring columns."""
        X, half, m = self.X, self.half, len(self.names)
        size, nonzero = np.abs(np.nan_to_num(X)), (np.nan_to_num(X) != 0).astype(np.int16)
        found: list[tuple[float, Candidate]] = []
        for start in range(m - 2):
            sums = np.cumsum(X[:, start:], axis=1)[:, 2:, None]  # (rows, ends, 1)
            halves = np.cumsum(half[start:])[2:, None]
            counts = np.cumsum(nonzero[:, start:], axis=1)[:, 2:, None]
            limit = 1e-6 * size[:, None, :] + (halves + half) * 1.001
            holds = np.abs(sums - X[:, None, :]) <= limit
            matters = (counts >= 2) & np.isfinite(sums) & np.isfinite(X)[:, None, :]
            for end, a, rate in _screen(holds, matters):
                run = range(start, start + end + 3)
                if a not in run:
                    terms = {self.names[a]: 1.0, **{self.names[b]: -1.0 for b in run}}
                    found.append((rate, (terms, 0.0)))
            for end in range(sums.shape[1]):
                total = sums[:, end, 0][np.isfinite(sums[:, end, 0])]
                if len(total) < MIN_NONTRIVIAL:
                    continue
                constant = float(np.round(np.median(total), 6))
                rate = float(np.mean(np.abs(total - constant) <= 1.001 * halves[end] + 1e-6))
                if constant and rate >= MIN_SCREENED:
                    run = range(start, start + end + 3)
                    found.append((rate, ({self.names[b]: 1.0 for b in run}, constant)))
        yield from _best(found)

    def durations(self) -> Iterator[Candidate]:
        """Yield times that are another time plus a number of seconds, hours or days."""
        T = self._matrix(self._clocks)
        for late, early in combinations(range(len(self._clocks)), 2):
            apart = T[:, late] - T[:, early]
            for at, name in enumerate(self.names):
                for unit in SECONDS:
                    for sign in (1.0, -1.0):
                        length = sign * unit * self.X[:, at]
                        known = np.isfinite(apart) & np.isfinite(length)
                        if known.sum() < MIN_NONTRIVIAL:
                            break
                        constant = float(np.median(apart[known] - length[known]))
                        near = np.abs(apart - length - constant) <= 1.001 * unit * self.half[at]
                        if abs(constant) in (0.0, unit) and near[known].mean() >= MIN_SCREENED:
                            pair = self._clocks[late], self._clocks[early]
                            end, start = pair if sign > 0 else pair[::-1]
                            yield {end: 1.0, start: -1.0, name: -unit}, sign * constant

    def _relation(self, terms: Terms, constant: float) -> LinearRelation:
        target, sign = self._target(terms)
        others = tuple(name for name in terms if name != target)
        return LinearRelation.from_columns(
            (target, *others),
            self.evidence.sample,
            self.times,
            coefficients=tuple(-terms[name] / terms[target] for name in others),
            constant=sign * constant / abs(terms[target]),
        )

    def _target(self, terms: Terms) -> tuple[str, float]:
        """Return the total of a sum, or its largest column, and the sign of its coefficient."""
        positive = [name for name, factor in terms.items() if factor > 0]
        negative = [name for name, factor in terms.items() if factor < 0]
        for own, others, sign in ((positive, negative, 1.0), (negative, positive, -1.0)):
            if len(own) == 1 and (others or len(terms) == 1):
                return own[0], sign
        sizes = {name: float(np.nanmedian(np.abs(self.evidence.sample[name]))) for name in terms}
        largest = max(sizes, key=lambda name: sizes[name])
        return largest, float(np.sign(terms[largest]))

    def _missing_term(self, relation: LinearRelation, terms: Terms) -> Terms | None:
        """Return the column that explains most rows in which a sum fails, as a term."""
        if not all(abs(factor) == 1 for factor in relation.coefficients):
            return None
        if support(relation, self.evidence.sample) < MIN_SCREENED:
            return None
        parsed = self.evidence.parsed
        rows = np.flatnonzero(~relation.holds(parsed))[:2000]
        if len(rows) < 3:
            return None
        difference = (np.asarray(parsed[relation.target]) - relation.expected(parsed))[rows]
        limit = relation.units[0] * 0.5 * (len(relation.columns) + 1) + 1e-6 * np.abs(difference)
        best, best_rate = None, MIN_EXPLAINED
        for name in self._numbers:
            if name in relation.columns:
                continue
            column = np.asarray(parsed[name])[rows]
            for sign in (1.0, -1.0):
                rate = float(np.mean(np.abs(difference - sign * column) <= limit))
                if rate > best_rate:
                    best, best_rate = {name: -sign * terms[relation.target]}, rate
        return best

    def _vector(self, terms: Terms, constant: float) -> Floats:
        vector = np.zeros(len(self._everywhere) + 1)
        for name, factor in terms.items():
            vector[self._everywhere.index(name)] = factor
        vector[-1] = constant
        return vector / np.linalg.norm(vector[:-1])

    def _is_new(self, terms: Terms, constant: float) -> bool:
        """Whether the relation does not follow from those found."""
        vectors = np.array([*self._vectors, self._vector(terms, constant)])[:, :-1]
        return int(np.linalg.matrix_rank(vectors, tol=1e-6)) == len(vectors)


def _screened_rows(evidence: Evidence) -> Indices:
    n = len(next(iter(evidence.sample.values())))
    return np.linspace(0, n - 1, min(n, SCREENED_ROWS)).astype(np.int64)


def _screen(holds: Mask, matters: Mask) -> Iterator[tuple[int, int, float]]:
    """Yield the pairs of columns that hold in most rows that matter, and in which fraction."""
    n = matters.sum(axis=0)
    rates = (holds & matters).sum(axis=0) / np.maximum(n, 1)
    for first, second in np.argwhere((n >= MIN_NONTRIVIAL) & (rates >= MIN_SCREENED)):
        yield int(first), int(second), float(rates[first, second])


def _best(found: list[tuple[float, Candidate]]) -> Iterator[Candidate]:
    """Yield the best candidates, those with few columns first."""
    found.sort(key=lambda one: (-round(one[0], 1), len(one[1][0])))
    yield from (candidate for _, candidate in found[:MAX_CANDIDATES])


def _min_informative(terms: Terms) -> float:
    """Return the fraction of rows that a shuffled column must break."""
    return 0.5 if len(terms) == 2 else 0.0


def _to_unit(value: float, unit: float) -> float:
    return round(round(value / unit) * unit, 9)
