"""A result file, sorted into the comparisons that its report makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from imboost.benchmark.analysis.ablation_tables import (
    AblationTable,
    ablation_tables,
    changed_value,
)
from imboost.benchmark.analysis.comparison import Interval, Ranking, paired_interval
from imboost.benchmark.analysis.coverage import Coverage, Trouble, find_coverage, find_troubles
from imboost.benchmark.analysis.method_key import (
    FAMILIES,
    IMBOOST,
    OTHER_FAMILY,
    PAPER_PROTOCOL,
    MethodKey,
    Protocol,
)
from imboost.benchmark.analysis.method_tables import (
    METRICS,
    MethodTable,
    method_tables,
    reading_order,
)
from imboost.benchmark.analysis.running_times import TimeRatio, time_ratios
from imboost.benchmark.run.protocol import RoundResult
from imboost.detectors import make_detector
from imboost.errors import UnknownNameError

FAMILY_ORDER = [*dict.fromkeys(FAMILIES.values()), OTHER_FAMILY]
"""Families keep their colours from report to report."""


@dataclass(frozen=True)
class Study:
    """What a result file says.

    Methods are compared under one protocol, the paper's if there are such runs. Runs of
    ablations have tables of their own, those under other protocols too.

    Parameters
    ----------
    lines : sequence of RoundResult
    against : str, optional
        The method that others are compared with, such as "stack/spread"; a detector alone
        has its own query strategy.
    """

    lines: Sequence[RoundResult]
    against: str | None = None

    @cached_property
    def tables(self) -> dict[MethodKey, MethodTable]:
        """Every method with a finished run."""
        return {table.key: table for table in method_tables(self.lines)}

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol under which methods are compared."""
        counts: Counter[Protocol] = Counter()
        for table in self.tables.values():
            counts[table.key.protocol] += len(table.runs)
        most = max(counts, key=lambda key: counts[key])
        return PAPER_PROTOCOL if PAPER_PROTOCOL in counts else most

    @property
    def is_papers_protocol(self) -> bool:
        """Whether methods are compared as in the paper."""
        return self.protocol == PAPER_PROTOCOL

    @cached_property
    def coverage(self) -> Coverage:
        """The compared methods, the best mean test AUC first, and the data sets they share."""
        same = [table for key, table in self.tables.items() if key.protocol == self.protocol]
        found = [table for table in same if changed_value(table.key) is None] or same
        coverage = find_coverage(found, self.lines)
        coverage.methods.sort(key=lambda table: -_mean_auc(table, coverage.shared))
        return coverage

    @property
    def methods(self) -> list[MethodTable]:
        """The compared methods, best first."""
        return self.coverage.methods

    @cached_property
    def has_even_seeds(self) -> bool:
        """Whether the compared methods have the same runs of the shared data sets."""
        shared = set(self.shared)
        runs = [
            {run for run, line in table.runs.items() if line.group in shared}
            for table in self.methods
        ]
        return all(own == runs[0] for own in runs)

    @property
    def shared(self) -> list[str]:
        """The data sets that all compared methods have."""
        return self.coverage.shared

    @cached_property
    def groups(self) -> list[str]:
        """All data sets of the compared methods, tables first."""
        return sorted(
            [*self.shared, *(gap.group for gap in self.coverage.gaps)], key=reading_order
        )

    @cached_property
    def reference(self) -> MethodTable:
        """The method others are compared with.

        It is the one that was named; else IMBoost if it is among them, else the best.
        """
        known = {table.key.under(PAPER_PROTOCOL).name: table for table in self.methods}
        if self.against is None:
            return known.get(IMBOOST.name, self.methods[0])
        known |= {table.name: table for table in self.methods}
        name = self.against if self.against in known else _with_query(self.against)
        if name not in known:
            raise UnknownNameError("compared method", name, known)
        return known[name]

    @cached_property
    def rankings(self) -> dict[str, Ranking]:
        """The compared methods ranked on the shared data sets, by each metric."""
        return {metric: Ranking.of(self.methods, self.shared, metric) for metric in METRICS}

    @cached_property
    def gains(self) -> dict[str, Interval]:
        """How far the test AUC of each other method lies above the reference's, highest first.

        A method that has no run in common with the reference is not among them.
        """
        others = [table for table in self.methods if table is not self.reference]
        gains = {t.name: paired_interval(t, self.reference, "test_auc") for t in others}
        known = {name: gain for name, gain in gains.items() if gain.n}
        return dict(sorted(known.items(), key=lambda item: -item[1].mean))

    @cached_property
    def queries(self) -> list[MethodTable]:
        """IMBoost with each of its query strategies, as in the paper's tables C.6 and C.7."""
        return [t for t in self.methods if t.key.detector == "imboost" and not t.key.settings]

    @cached_property
    def query_sets(self) -> list[str]:
        """The data sets that all of `queries` have."""
        return find_coverage(self.queries, self.lines).shared

    @cached_property
    def leaders(self) -> list[MethodTable]:
        """The best method of each family, and the reference."""
        best: dict[str, MethodTable] = {}
        for table in self.methods:
            best.setdefault(table.key.family, table)
        chosen = [*best.values(), self.reference]
        return [table for table in self.methods if table in chosen]

    @cached_property
    def variants(self) -> list[MethodTable]:
        """Methods under another protocol."""
        return [table for key, table in self.tables.items() if key.protocol != self.protocol]

    @cached_property
    def ablations(self) -> list[AblationTable]:
        """IMBoost with one setting changed."""
        return ablation_tables(self.lines)

    @cached_property
    def times(self) -> list[TimeRatio]:
        """Running times as ratios to the reference's."""
        return time_ratios(self.methods, self.reference)

    @cached_property
    def troubles(self) -> list[Trouble]:
        """Runs without a result."""
        return find_troubles(self.lines)

    def runs_by(self, column: str) -> dict[str, int]:
        """Count the finished runs by a column of the results, such as the version."""
        return dict(Counter(getattr(line, column) for line in self.lines if line.ends_run))


def _with_query(method: str) -> str:
    """Add its own query strategy to a detector named alone."""
    return method if "/" in method else f"{method}/{make_detector(method).default_query}"


def _mean_auc(table: MethodTable, shared: list[str]) -> float:
    return table.mean("test_auc", shared or table.sets)
