"""Sums, differences, multiples and equal columns, and the search for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import ClassVar

import numpy as np

from imboost.arrays import Floats, Mask
from imboost.facts import RuleKind
from imboost.present.formatting import rounded
from imboost.relations.evidence import Evidence, support, varying
from imboost.relations.numeric import NumericRelation, rounding_unit

SECONDS = {1.0: "seconds", 60.0: "minutes", 3600.0: "hours", 86400.0: "days", 604800.0: "weeks"}
MAX_COLUMNS = 100  # columns that are searched, the first ones
MAX_PAIRED_COLUMNS = 30  # columns up to which sums of four columns are searched
MAX_SCALED_COLUMNS = 40  # columns up to which one addend may have a factor
FACTORS = (1.0, 10.0, 12.0, 60.0, 100.0, 1000.0)  # of an addend
SCREENED_ROWS = 96  # rows of the sample on which candidates are screened
MIN_SCREENED = 0.7  # share of these rows in which a candidate holds
MIN_NONTRIVIAL = 8  # rows in which enough cells are not 0
MIN_INFORMATIVE = 0.5  # share of rows that a shuffled column of a pair must break
MAX_CANDIDATES = 400  # that are checked on more rows, the best screened
MAX_ADDED = 3  # columns that are added to a sum to explain the rows in which it fails
MIN_EXPLAINED = 0.5  # share of the failing rows that an added column explains

Terms = dict[str, float]  # coefficients by column; the sum of all terms is a constant
Candidate = tuple[Terms, float]  # terms and constant
Screened = tuple[float, Candidate]  # share of the screened rows in which it holds, candidate


@dataclass(frozen=True, kw_only=True)
class LinearRelation(NumericRelation):
    """The target is the constant plus the other columns, each times its coefficient.

    >>> cells = {"total": np.array([21.0]), "net": np.array([10.0]), "tax": np.array([2.0])}
    >>> relation = LinearRelation.from_columns(tuple(cells), cells, coefficients=(1.0, 1.0))
    >>> relation.formula(), relation.expected(cells).tolist()
    ('net + tax', [12.0])
    """

    coefficients: tuple[float, ...]
    constant: float = 0.0

    kind: ClassVar[RuleKind] = RuleKind.SUM

    def _compute(self, cells: list[Floats], target: int = 0) -> Floats:
        total = np.full(len(cells[0]), self.constant)
        for at, (factor, column) in enumerate(zip(self.coefficients, cells[1:], strict=True), 1):
            if at != target:
                total = total + factor * column
        return total if target == 0 else (cells[0] - total) / self.coefficients[target - 1]

    def _errors(self, cells: list[Floats]) -> tuple[float, Floats]:
        error, size = 0.0, np.abs(cells[0]) + abs(self.constant)
        terms = zip(self.coefficients, self.input_units, cells[1:], strict=True)
        for factor, unit, column in terms:
            error += abs(factor) * unit / 2
            size = size + abs(factor) * np.abs(column)
        return error, size

    def formula(self) -> str:
        """Return the sum as text."""
        parts = []
        for factor, name in zip(self.coefficients, self.columns[1:], strict=True):
            size = abs(factor)
            text = name if size == 1 else f"{rounded(size, 0.0)} × {name}"
            if self.target in self.times and size in SECONDS and name not in self.times:
                text = f"{name} ({SECONDS[size]})"
            parts.append(("- " if factor < 0 else "+ ") + text)
        if self.constant:
            unit = self.unit if self.unit <= abs(self.constant) else 0.0
            text = rounded(abs(self.constant), unit)
            at = 0 if all(factor < 0 for factor in self.coefficients) else len(parts)
            parts.insert(at, ("- " if self.constant < 0 else "+ ") + text)
        first, *others = parts
        return " ".join([first.removeprefix("+ ").replace("- ", "-", 1), *others])


def find_sums(evidence: Evidence, numbers: list[str], times: list[str]) -> list[LinearRelation]:
    """Return relations between numbers, and between times and numbers, none implied by others."""
    search = _Search(evidence, numbers, times)
    for candidates in (
        search.multiples(),
        _best(search.sums_of_two()),
        _best(search.runs()),
        _best(search.sums_of_three()),
        search.durations(),
    ):
        for terms, constant in candidates:
            search.add(terms, constant)
    return search.found


class _Search:
    """Candidates screened on a few rows, checked on all, and kept if they are new."""

    def __init__(self, evidence: Evidence, numbers: list[str], times: list[str]) -> None:
        self.evidence = evidence
        self.found: list[LinearRelation] = []
        self._vectors: list[Floats] = []  # coefficients of those that were found
        self._numbers, self._times = numbers, times
        self.names = varying(evidence.sample, numbers)[:MAX_COLUMNS]
        self.X = evidence.screened(self.names, SCREENED_ROWS)
        self.size = np.abs(np.nan_to_num(self.X))
        self.is_nonzero = (self.size != 0).astype(np.int8)
        self.half = np.array([rounding_unit(evidence.sample[name]) / 2 for name in self.names])

    def add(self, terms: Terms, constant: float) -> None:
        """Check a candidate; keep it, or one with more columns, if it says something new."""
        checked: LinearRelation | None = None
        for _ in range(MAX_ADDED + 1 if self._is_new(terms) else 0):
            relation = self._relation(terms, constant)
            least = MIN_INFORMATIVE if len(terms) == 2 else 0.0
            exact = dataclasses.replace(relation, has_exact_inputs=True)
            checked = self.evidence.check(exact, min_informative=least) or self.evidence.check(
                relation, min_informative=least
            )
            if checked is not None and checked.support == 1:
                break
            added = self._missing_term(relation, terms)
            if added is None:
                break
            terms = terms | added
        if checked is not None and self._is_new(terms):
            self._vectors.append(self._vector(terms))
            self.found.append(checked)

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
                if np.mean(np.abs(slopes / factor - 1) < 0.3) >= 0.5:
                    yield from self._refined(a, b, factor)

    def _refined(self, a: int, b: int, factor: float) -> Iterator[Candidate]:
        """Yield the line with the fewest digits through the rows of two columns.

        Its target is the more coarsely rounded column.
        """
        x, y = self.X[:, b], self.X[:, a]
        known = np.isfinite(x) & np.isfinite(y)
        x, y, unit = x[known], y[known], 2 * self.half[a]
        for _ in range(3):
            difference = y - factor * x
            distance = np.abs(difference - np.median(difference))
            kept = distance <= 3 * np.median(distance) + unit
            if kept.sum() < MIN_NONTRIVIAL or np.ptp(x[kept]) == 0:
                return
            factor = float(np.polyfit(x[kept], y[kept], 1)[0])
        if factor == 0:
            return
        limit = 1.001 * (unit / 2 + abs(factor) * self.half[b]) + 1e-6 * np.abs(y)
        for digits in range(1, 9):
            k = float(f"{factor:.{digits}g}")
            c = float(np.median(y - k * x))
            c = float(round(round(c / unit) * unit, 9)) if unit else round(c, 6)
            c = 0.0 if abs(c) <= unit / 2 else c
            if np.mean(np.abs(y - k * x - c) <= limit) >= MIN_SCREENED:
                if abs(k) * self.half[b] > self.half[a] and abs(k) != 1:
                    a, b, k, c = b, a, 1 / k, -c / k
                yield {self.names[a]: 1.0, self.names[b]: -k}, c
                return

    def sums_of_two(self) -> Iterator[Screened]:
        """Yield columns that are the sum of two others, the first one times a factor.

        A factor joins the digits of times such as 1435, or minutes and seconds.
        """
        X, half, is_nonzero, m = self.X, self.half, self.is_nonzero, len(self.names)
        factors = FACTORS if m <= MAX_SCALED_COLUMNS else (1.0,)
        for factor, b in product(factors, range(m)):
            rest = np.arange(b + 1, m) if factor == 1 else np.delete(np.arange(m), b)
            n_nonzero = (is_nonzero[:, [b]] + is_nonzero[:, rest])[:, :, None]
            for c, a, rate in self._equal_to_column(
                factor * X[:, [b]] + X[:, rest],
                factor * half[b] + half[rest],
                n_nonzero + is_nonzero[:, None, :] >= 2,
            ):
                if a not in (b, rest[c]):
                    names = self.names[a], self.names[b], self.names[rest[c]]
                    yield rate, (dict(zip(names, (1.0, -factor, -1.0), strict=True)), 0.0)

    def _equal_to_column(
        self, sums: Floats, half: Floats, matters: Mask
    ) -> Iterator[tuple[int, int, float]]:
        """Yield the sums (rows, sums) that equal a column, this column, and in which share."""
        limit = 1e-6 * self.size[:, None, :] + 1.001 * (half[:, None] + self.half)
        return _screen(sums[:, :, None], self.X[:, None, :], limit, matters)

    def sums_of_three(self) -> Iterator[Screened]:
        """Yield sums of two columns that are the sum or the difference of two others."""
        m, X, half, names = len(self.names), self.X, self.half, self.names
        if not 2 <= m <= MAX_PAIRED_COLUMNS:
            return
        pairs = np.array(list(combinations(range(m), 2)), dtype=np.int64)
        left, right = np.concatenate([pairs, pairs, pairs[:, ::-1]]).T  # sums, then differences
        signs = np.repeat([1.0, -1.0], [len(pairs), 2 * len(pairs)])
        others = X[:, left] + signs * X[:, right]  # (rows, pairs)
        other_half = half[left] + half[right]
        other_nonzero = self.is_nonzero[:, left] + self.is_nonzero[:, right]
        size = 1e-6 * (self.size[:, left] + self.size[:, right])
        for i, j in pairs:
            disjoint = ~np.isin(left, (i, j)) & ~np.isin(right, (i, j))
            at = np.flatnonzero(disjoint & ((signs < 0) | (left > i)))
            n_nonzero = self.is_nonzero[:, [i]] + self.is_nonzero[:, [j]] + other_nonzero[:, at]
            limit = size[:, at] + 1.001 * (other_half[at] + half[i] + half[j])
            sums = (X[:, [i]] + X[:, [j]])[:, None]
            for _, column, rate in _screen(
                sums, others[:, None, at], limit[:, None], n_nonzero[:, None] >= 3
            ):
                k = at[column]
                terms = {names[left[k]]: 1.0, names[right[k]]: float(signs[k])}
                yield rate, (terms | {names[i]: -1.0, names[j]: -1.0}, 0.0)

    def runs(self) -> Iterator[Screened]:
        """Yield at least three neighbouring columns whose sum is a column or a constant."""
        for start in range(len(self.names) - 2):
            sums = np.cumsum(self.X[:, start:], axis=1)[:, 2:]  # (rows, ends)
            half = np.cumsum(self.half[start:])[2:]
            n_nonzero = np.cumsum(self.is_nonzero[:, start:], axis=1)[:, 2:, None]
            for end, a, rate in self._equal_to_column(sums, half, n_nonzero >= 2):
                run = self.names[start : start + end + 3]
                if self.names[a] not in run:
                    yield rate, ({self.names[a]: 1.0} | dict.fromkeys(run, -1.0), 0.0)
            for end, column in enumerate(sums.T):
                total = column[np.isfinite(column)]
                if len(total) < MIN_NONTRIVIAL:
                    continue
                constant = float(np.round(np.median(total), 6))
                rate = float(np.mean(np.abs(total - constant) <= 1.001 * half[end] + 1e-6))
                if constant and rate >= MIN_SCREENED:
                    run = self.names[start : start + end + 3]
                    yield rate, (dict.fromkeys(run, 1.0), constant)

    def durations(self) -> Iterator[Candidate]:
        """Yield times that are another time plus a number of seconds, hours or days."""
        clocks = varying(self.evidence.sample, self._times)[:MAX_COLUMNS]
        T = self.evidence.screened(clocks, SCREENED_ROWS)
        for late, early in combinations(range(len(clocks)), 2):
            apart = T[:, late] - T[:, early]
            for (at, name), unit, sign in product(enumerate(self.names), SECONDS, (1.0, -1.0)):
                difference = apart - sign * unit * self.X[:, at]
                known = np.isfinite(difference)
                if known.sum() < MIN_NONTRIVIAL:
                    continue
                constant = float(np.median(difference[known]))
                near = np.abs(difference - constant) <= 1.001 * unit * self.half[at]
                if abs(constant) in (0.0, unit) and near[known].mean() >= MIN_SCREENED:
                    end, start = (late, early) if sign > 0 else (early, late)
                    yield {clocks[end]: 1.0, clocks[start]: -1.0, name: -unit}, sign * constant

    def _relation(self, terms: Terms, constant: float) -> LinearRelation:
        target, sign = self._target(terms)
        others = tuple(name for name in terms if name != target)
        return LinearRelation.from_columns(
            (target, *others),
            self.evidence.sample,
            times=tuple(name for name in (target, *others) if name in self._times),
            coefficients=tuple(-terms[name] / terms[target] for name in others),
            constant=sign * constant / abs(terms[target]),
        )

    def _target(self, terms: Terms) -> tuple[str, float]:
        """Return the total of a sum, or its largest column, and the sign of its coefficient."""
        for sign in (1.0, -1.0):
            same = [name for name, factor in terms.items() if factor * sign > 0]
            if len(same) == 1:
                return same[0], sign
        sample = self.evidence.sample
        largest = max(terms, key=lambda name: float(np.nanmedian(np.abs(sample[name]))))
        return largest, float(np.sign(terms[largest]))

    def _missing_term(self, relation: LinearRelation, terms: Terms) -> Terms | None:
        """Return the column that explains most rows in which a sum fails, as a term."""
        parsed = self.evidence.parsed
        if {abs(factor) for factor in relation.coefficients} != {1.0}:
            return None
        if support(relation, self.evidence.sample) < MIN_SCREENED:
            return None
        rows = np.flatnonzero(~relation.holds(parsed))[:2000]
        if len(rows) < 3:
            return None
        difference = (np.asarray(parsed[relation.target]) - relation.expected(parsed))[rows]
        limit = relation.unit * 0.5 * (len(relation.columns) + 1) + 1e-6 * np.abs(difference)
        best, best_rate = None, MIN_EXPLAINED
        for name, sign in product(self._numbers, (1.0, -1.0)):
            if name not in relation.columns:
                near = np.abs(difference - sign * np.asarray(parsed[name])[rows]) <= limit
                if near.mean() > best_rate:
                    best, best_rate = {name: -sign * terms[relation.target]}, float(near.mean())
        return best

    def _vector(self, terms: Terms) -> Floats:
        names = [*self._numbers, *self._times]
        vector = np.array([terms.get(name, 0.0) for name in names])
        return np.asarray(vector / np.linalg.norm(vector))

    def _is_new(self, terms: Terms) -> bool:
        """Whether the relation does not follow from those found."""
        vectors = np.array([*self._vectors, self._vector(terms)])
        return int(np.linalg.matrix_rank(vectors, tol=1e-6)) == len(vectors)


def _screen(
    left: Floats, right: Floats, limit: Floats, matters: Mask
) -> Iterator[tuple[int, int, float]]:
    """Yield where two arrays (rows, a, b) are equal in most rows that matter, and in what part."""
    matters = matters & np.isfinite(left) & np.isfinite(right)
    n = matters.sum(axis=0)
    rates = ((np.abs(left - right) <= limit) & matters).sum(axis=0) / np.maximum(n, 1)
    for first, second in np.argwhere((n >= MIN_NONTRIVIAL) & (rates >= MIN_SCREENED)):
        yield int(first), int(second), float(rates[first, second])


def _best(screened: Iterable[Screened]) -> Iterator[Candidate]:
    """Yield the best candidates, those with few columns first."""
    ordered = sorted(screened, key=lambda found: (-round(found[0], 1), len(found[1][0])))
    yield from (candidate for _, candidate in ordered[:MAX_CANDIDATES])
