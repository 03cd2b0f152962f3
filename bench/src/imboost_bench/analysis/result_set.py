"""A result file, divided into the comparisons of its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from imboost.errors import UnknownNameError
from imboost_bench.analysis.ablations import AblationTable, ablation_tables, changed_value
from imboost_bench.analysis.aggregate import METRICS, mean_over_seeds, of_metric, reading_order
from imboost_bench.analysis.comparison import Ranking, paired_intervals, time_ratios
from imboost_bench.analysis.coverage import Coverage, find_coverage
from imboost_bench.analysis.method_key import (
    IMBOOST,
    PAPER_PROTOCOL,
    MethodKey,
    QueryProtocol,
    rows_unlike_paper,
)
from imboost_bench.baselines import make_detector
from imboost_bench.paper import paper_datasets, paper_figures
from imboost_bench.run.protocol import RoundResult

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class ResultSet:
    """The results of a benchmark and the comparisons between its methods.

    Methods are compared under one protocol: the paper's, or the most frequent one if no run
    uses the paper's. Ablations and runs under other protocols have tables of their own.

    Parameters
    ----------
    lines : sequence of RoundResult
    against : str, optional
        Name of the reference method, such as "stack/spread"; the name of a detector stands for
        the detector with its own query strategy.
    """

    lines: Sequence[RoundResult]
    against: str | None = None

    @cached_property
    def frame(self) -> DataFrame:
        """All lines, with the name of the method in a column."""
        import pandas as pd

        names = [self._name(MethodKey.of(line)) for line in self.lines]
        return pd.DataFrame([vars(line) for line in self.lines]).assign(method=names)

    @cached_property
    def rounds(self) -> DataFrame:
        """All rounds of the successful runs, without those whose test AUC is missing."""
        known = self.frame[(self.frame["status"] == "ok") & self.frame["test_auc"].notna()]
        last = known.groupby(["method", "dataset", "seed"])["round"].transform("max")
        return known[last == known["rounds"]]

    @cached_property
    def runs(self) -> DataFrame:
        """The last round of the successful runs."""
        return self.rounds[self.rounds["round"] == self.rounds["rounds"]]

    @cached_property
    def failed(self) -> DataFrame:
        """The runs without a result."""
        return self.frame[self.frame["status"] != "ok"]

    @cached_property
    def keys(self) -> dict[str, MethodKey]:
        """The methods with a successful run, by name."""
        keys = {self._name(key): key for key in map(MethodKey.of, self.lines)}
        return {name: keys[name] for name in self.runs["method"].unique()}

    def _name(self, key: MethodKey) -> str:
        """Return the name of a method, without the protocol if all runs have the same."""
        return (replace(key, protocol=PAPER_PROTOCOL) if self._has_one_protocol else key).name

    @cached_property
    def _has_one_protocol(self) -> bool:
        return len({MethodKey.of(line).protocol for line in self.lines}) == 1

    @cached_property
    def figures(self) -> DataFrame:
        """Mean and std over seeds by method, data set and metric, and the paper's figures."""
        figures = mean_over_seeds(self.runs, "method")
        papers = []
        for method, group, metric in figures.index:
            column = self.keys[method].paper_column
            papers.append(paper_figures(metric, column).get(group.lower()) if column else None)
        figures = figures.assign(paper=papers).astype({"paper": float})
        return figures.assign(difference=figures["mean"] - figures["paper"])

    def table(self, metric: str, column: str = "mean") -> DataFrame:
        """Return a column of `figures` as a table of data sets by methods."""
        return of_metric(self.figures, metric)[column].unstack("method")

    def means(self, metric: str, groups: Sequence[str] | None = None) -> DataFrame:
        """Average the figures of each method over data sets: the shared ones by default.

        Without shared data sets, they are averaged over each method's own.
        """
        figures = of_metric(self.figures, metric)
        chosen = groups or self.shared
        if chosen:
            figures = figures[figures.index.get_level_values("group").isin(chosen)]
        return figures.groupby("method")[["mean", "std", "paper", "difference"]].mean()

    @cached_property
    def protocol(self) -> QueryProtocol:
        """The protocol under which methods are compared."""
        counts = Counter(self.keys[name].protocol for name in self.runs["method"])
        return PAPER_PROTOCOL if PAPER_PROTOCOL in counts else counts.most_common(1)[0][0]

    @cached_property
    def unlike_paper(self) -> dict[str, str]:
        """Data sets whose rows differ from the paper's in the compared runs, and how."""
        n_parts = self.figures["n_parts"].groupby("group").max()
        reasons = {
            group: rows_unlike_paper(group, self.protocol.outlier_share, n_parts[group])
            for group in self.groups
        }
        return {group: reason for group, reason in reasons.items() if reason}

    @cached_property
    def paper_groups(self) -> list[str]:
        """The data sets over which means are compared with the paper's.

        Those of the shared ones that have the same rows in the paper; if there are none, all that
        the paper has.
        """
        known = [name for name in self.shared or self.groups if name.lower() in paper_datasets()]
        return [name for name in known if name not in self.unlike_paper] or known

    @property
    def is_like_for_like(self) -> bool:
        """Whether all of `paper_groups` have the same rows in the paper."""
        return not set(self.paper_groups) & self.unlike_paper.keys()

    @cached_property
    def coverage(self) -> Coverage:
        """The compared methods and the data sets for which all of them have results."""
        same = [name for name, key in self.keys.items() if key.protocol == self.protocol]
        plain = [name for name in same if changed_value(self.keys[name]) is None]
        return self.coverage_of(plain or same)

    def coverage_of(self, methods: Sequence[str]) -> Coverage:
        """Return the coverage of some of the methods."""
        return find_coverage(self.runs[self.runs["method"].isin(methods)], self.failed)

    @cached_property
    def methods(self) -> list[str]:
        """The compared methods, the highest mean test AUC first."""
        means = self.means("test_auc")["mean"].loc[self.coverage.methods]
        return list(means.sort_values(ascending=False, kind="stable").index)

    @cached_property
    def compared_runs(self) -> DataFrame:
        """The runs of the compared methods."""
        return self.runs[self.runs["method"].isin(self.methods)]

    @property
    def shared(self) -> list[str]:
        """The data sets for which all compared methods have results."""
        return self.coverage.shared

    @cached_property
    def groups(self) -> list[str]:
        """All data sets of the compared methods, tables first."""
        return sorted({*self.shared, *self.coverage.missing["group"]}, key=reading_order)

    @cached_property
    def has_even_seeds(self) -> bool:
        """Whether the compared methods have the same runs on the shared data sets."""
        runs = self.compared_runs[self.compared_runs["group"].isin(self.shared)]
        table = runs.pivot(index=["dataset", "seed"], columns="method", values="test_auc")
        return bool(table.notna().all(axis=None))

    @cached_property
    def reference(self) -> str:
        """The method that others are compared with.

        It is the one named by `against`; otherwise IMBoost if present, otherwise the best.
        """
        plain = {replace(self.keys[n], protocol=PAPER_PROTOCOL).name: n for n in self.methods}
        if self.against is None:
            return plain.get(IMBOOST.name, self.methods[0])
        known = plain | {name: name for name in self.methods}
        name = self.against
        if name not in known and "/" not in name:
            name = f"{name}/{make_detector(name).default_query}"
        if name not in known:
            raise UnknownNameError("compared method", name, known)
        return known[name]

    @cached_property
    def rankings(self) -> dict[str, Ranking]:
        """The compared methods ranked on the shared data sets, by metric."""
        return {
            metric: Ranking.of(self.table(metric).loc[self.shared, self.methods])
            for metric in METRICS
        }

    @cached_property
    def gains(self) -> DataFrame:
        """Paired differences of test AUC to the reference, highest first.

        A method that shares no run with the reference is left out.
        """
        gains = paired_intervals(self.compared_runs, self.reference, "test_auc")
        gains = gains.reindex([name for name in self.methods if name in gains.index])
        return gains[gains["n"] > 0].sort_values("mean", ascending=False, kind="stable")

    @cached_property
    def queries(self) -> list[str]:
        """IMBoost with each query strategy, as in the paper's tables C.6 and C.7."""
        keys = {name: self.keys[name] for name in self.methods}
        return [n for n, key in keys.items() if key.detector == "imboost" and not key.settings]

    @cached_property
    def query_groups(self) -> list[str]:
        """The data sets for which all of `queries` have results."""
        return self.coverage_of(self.queries).shared if self.queries else []

    def curves(self, methods: Sequence[str], groups: Sequence[str]) -> DataFrame:
        """Return mean and std of the test AUC, averaged over data sets, by method and round.

        A round is left out if one of the data sets lacks it.
        """
        rows = self.rounds[self.rounds["method"].isin(methods) & self.rounds["group"].isin(groups)]
        by_round = of_metric(mean_over_seeds(rows, "method", "round"), "test_auc")
        by_round = by_round.groupby(["method", "round"])[["mean", "std"]]
        return by_round.mean()[by_round.size() == len(groups)]

    @cached_property
    def leaders(self) -> list[str]:
        """The best method of each family, and the reference."""
        best: dict[str, str] = {}
        for name in self.methods:
            best.setdefault(self.keys[name].family, name)
        return [name for name in self.methods if name in {*best.values(), self.reference}]

    @cached_property
    def ablations(self) -> list[AblationTable]:
        """IMBoost with one setting changed."""
        return ablation_tables(self.runs, self.keys)

    @cached_property
    def times(self) -> DataFrame:
        """Running times as ratios to the reference's."""
        return time_ratios(self.compared_runs, self.reference, self.keys)
