"""A result file, divided into the comparisons of its report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from imboost.errors import UnknownNameError
from imboost_bench.analysis.comparison import (
    METRICS,
    Ranking,
    mean_over_seeds,
    outcomes,
    paired_intervals,
    rank_methods,
    reading_order,
    time_ratios,
)
from imboost_bench.analysis.method_key import (
    IMBOOST,
    MethodKey,
    rows_unlike_paper,
)
from imboost_bench.baselines import make_detector
from imboost_bench.paper import paper_datasets, paper_figures
from imboost_bench.run.protocol import RoundResult
from imboost_bench.run.query_protocol import PAPER_PROTOCOL, QueryProtocol
from imboost_bench.run.settings import read_settings
from imboost_bench.run.suites import ABLATIONS, Ablation

if TYPE_CHECKING:
    from pandas import DataFrame, Series


# Methods with results on a smaller fraction of the data sets, or values of a setting with a
# smaller fraction of the runs, are left out: comparisons are on what all others have.
MIN_FRACTION = 0.5


class AblationTable(NamedTuple):
    """All values of one setting, over the `n_data_sets` and `n_runs` that they share."""

    ablation: Ablation
    values: DataFrame  # test AUC by value, the paper's, and paired differences to the default
    n_data_sets: int
    n_runs: int


class Coverage(NamedTuple):
    """The compared methods and the data sets for which all of them have results.

    `too_few` are the numbers of data sets of the methods with results on less than `MIN_FRACTION`
    of them. Of the `shared` data sets every compared method has all parts; `missing` are the
    others, with a row (group, method, status) per compared method that lacks it or a part of it.
    """

    methods: list[str]
    too_few: dict[str, int]
    shared: list[str]
    missing: DataFrame


class ResultSet:
    """The results of a benchmark and the comparisons between its methods.

    Methods are compared under one protocol: the paper's, or the most frequent one if no run
    uses the paper's. Ablations and runs under other protocols have tables of their own. `against`
    names the reference method, such as "stack/spread"; the name of a detector stands for the
    detector with its own query strategy.
    """

    def __init__(self, lines: Sequence[RoundResult], against: str | None = None) -> None:
        self.against = against
        keys = [MethodKey.of(line) for line in lines]
        # The protocol is in the names of methods if runs differ in it.
        is_one = len({key.protocol for key in keys}) == 1
        names = [(_on_paper(key) if is_one else key).name for key in keys]
        frame = pd.DataFrame([vars(line) for line in lines]).assign(method=names)
        is_known = (frame["status"] == "ok") & frame["test_auc"].notna()
        last = frame[is_known].groupby(["method", "dataset", "seed"])["round"].transform("max")
        finished = frame[is_known]
        self.rounds = finished[last == finished["rounds"]]
        """All rounds of the successful runs, without those whose test AUC is missing."""
        self.runs = self.rounds[self.rounds["round"] == self.rounds["rounds"]]
        """The last round of the successful runs."""
        self.failed = frame[frame["status"] != "ok"]
        """The runs without a result."""
        by_name = dict(zip(names, keys, strict=True))
        self.keys = {name: by_name[name] for name in self.runs["method"].unique()}
        """The methods with a successful run, by name."""

    @cached_property
    def figures(self) -> DataFrame:
        """Mean and std over seeds by method, data set and metric, and the paper's figures."""
        figures = mean_over_seeds(self.runs, "method")
        columns = {name: key.paper_column for name, key in self.keys.items()}
        papers = (
            paper_figures(metric, own).get(group.lower()) if (own := columns[name]) else None
            for name, group, metric in figures.index
        )
        figures["paper"] = np.array([*papers], dtype=float)
        return figures.assign(difference=figures["mean"] - figures["paper"])

    def table(self, metric: str, column: str = "mean") -> DataFrame:
        """Return a column of `figures` as a table of data sets by methods."""
        return self.figures[column].xs(metric, level="metric").unstack("method")

    def means(self, metric: str, groups: Sequence[str] | None = None) -> DataFrame:
        """Average each method's figures over data sets: the shared ones, or else its own."""
        figures = self.figures.xs(metric, level="metric")
        chosen = groups or self.shared
        if chosen:
            figures = figures[figures.index.get_level_values("group").isin(chosen)]
        return figures.groupby("method")[["mean", "std", "paper", "difference"]].mean()

    @cached_property
    def protocol(self) -> QueryProtocol:
        """The protocol under which methods are compared."""
        protocols = [self.keys[name].protocol for name in self.runs["method"]]
        return max(set(protocols), key=lambda own: (own == PAPER_PROTOCOL, protocols.count(own)))

    @cached_property
    def unlike_paper(self) -> dict[str, str]:
        """Data sets whose rows differ from the paper's in the compared runs, and how."""
        n_parts = self.figures["n_parts"].groupby("group").max()
        share = self.protocol.outlier_share
        reasons = {name: rows_unlike_paper(name, share, n_parts[name]) for name in self.groups}
        return {name: reason for name, reason in reasons.items() if reason}

    @cached_property
    def paper_groups(self) -> list[str]:
        """The shared data sets with the same rows in the paper; without any, all that it has."""
        papers = paper_datasets().index
        known = [name for name in self.shared or self.groups if name.lower() in papers]
        return [name for name in known if name not in self.unlike_paper] or known

    @property
    def is_like_for_like(self) -> bool:
        """Whether all of `paper_groups` have the same rows in the paper."""
        return not set(self.paper_groups) & self.unlike_paper.keys()

    @cached_property
    def coverage(self) -> Coverage:
        """The compared methods and the data sets for which all of them have results."""
        same = [name for name, key in self.keys.items() if key.protocol == self.protocol]
        return self.coverage_of([n for n in same if changed_value(self.keys[n]) is None] or same)

    def coverage_of(self, names: Sequence[str]) -> Coverage:
        """Return the coverage of some of the methods."""
        runs = self.runs[self.runs["method"].isin(names)]
        n_groups = runs.groupby("method", sort=False)["group"].nunique()
        is_compared = n_groups >= MIN_FRACTION * n_groups.max()
        methods = list(n_groups.index[is_compared])
        parts = runs[["group", "dataset"]].drop_duplicates()
        wanted = parts.merge(pd.DataFrame({"method": methods}), how="cross")
        own, known = (pd.MultiIndex.from_frame(f[["method", "dataset"]]) for f in (wanted, runs))
        missing = wanted[~own.isin(known)]
        reasons = self.failed.drop_duplicates(["method", "dataset"], keep="last")
        missing = missing.merge(reasons[["method", "dataset", "status"]], how="left")
        missing = missing.fillna({"status": "not run"})[["group", "method", "status"]]
        shared = sorted(set(parts["group"]) - set(missing["group"]), key=reading_order)
        too_few = n_groups[~is_compared].to_dict()
        return Coverage(methods, too_few, shared, missing.drop_duplicates())

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
    def reference(self) -> str:
        """The method named by `against`; otherwise IMBoost if present, otherwise the best."""
        plain = {_on_paper(self.keys[name]).name: name for name in self.methods}
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
            metric: rank_methods(self.table(metric).loc[self.shared, self.methods])
            for metric in METRICS
        }

    @cached_property
    def gains(self) -> DataFrame:
        """Paired differences of test AUC to the reference, of methods that share runs with it."""
        gains = paired_intervals(self.compared_runs, self.reference, "test_auc")
        gains = gains.reindex([name for name in self.methods if name in gains.index])
        return gains[gains["n"] > 0].sort_values("mean", ascending=False, kind="stable")

    @cached_property
    def outcomes(self) -> Series:
        """Whether each of `gains` is significant, as a word."""
        return outcomes(self.gains)

    @property
    def queries(self) -> list[str]:
        """IMBoost with each query strategy, as in the paper's tables C.6 and C.7."""
        keys = {name: self.keys[name] for name in self.methods}
        return [n for n, key in keys.items() if key.detector == "imboost" and not key.settings]

    @cached_property
    def query_groups(self) -> list[str]:
        """The data sets for which all of `queries` have results."""
        return self.coverage_of(self.queries).shared if self.queries else []

    def curves(self, methods: Sequence[str], groups: Sequence[str]) -> DataFrame:
        """Return mean and std of the test AUC by method and round that all data sets have."""
        rows = self.rounds[self.rounds["method"].isin(methods) & self.rounds["group"].isin(groups)]
        figures = mean_over_seeds(rows, "method", "round").query("metric == 'test_auc'")
        by_round = figures.groupby(["method", "round"])[["mean", "std"]]
        return by_round.mean()[by_round.size() == len(groups)]

    @cached_property
    def leaders(self) -> list[str]:
        """The best method of each family, and the reference."""
        best = {self.keys[name].family: name for name in reversed(self.methods)}
        return [name for name in self.methods if name in {*best.values(), self.reference}]

    @cached_property
    def ablations(self) -> dict[str, AblationTable]:
        """IMBoost with one setting changed, by a name such as "c8_lambda1"."""
        changed = {name: changed_value(key) for name, key in self.keys.items()}
        tables = {}
        for short, ablation in ABLATIONS.items():
            values = {name: own[1] for name, own in changed.items() if own and own[0] is ablation}
            if values:
                name = f"{ablation.table.replace('C.', 'c')}_{short}"
                tables[name] = _ablation_table(ablation, values, self.runs)
        return tables

    @cached_property
    def times(self) -> DataFrame:
        """Running times as ratios to the reference's."""
        return time_ratios(self.compared_runs, self.reference, self.keys)


def _on_paper(key: MethodKey) -> MethodKey:
    """Return a method under the paper's protocol."""
    return key._replace(protocol=PAPER_PROTOCOL)


def changed_value(key: MethodKey) -> tuple[Ablation, float] | None:
    """Return the ablation a method belongs to and its value; None for any other method."""
    values = read_settings(key.settings)
    if len(values) == 1 and key._replace(settings="") == IMBOOST:
        [(setting, value)] = values.items()
        for ablation in ABLATIONS.values():
            if setting == ablation.setting and isinstance(value, int | float):
                return (ablation, value) if value != ablation.default else None
    return None


def _ablation_table(
    ablation: Ablation, values: dict[str, float], runs: DataFrame
) -> AblationTable:
    default = IMBOOST.name
    runs = runs[runs["method"].isin([*values, default])].set_index(["dataset", "seed"])
    pairs = {name: set(own.index) for name, own in runs.groupby("method")}
    enough = MIN_FRACTION * max(len(pairs[name]) for name in values)
    counted = {name: value for name, value in values.items() if len(pairs[name]) >= enough}
    shared = set.intersection(*(pairs[name] for name in counted))
    if default in pairs and len(pairs[default] & shared) >= MIN_FRACTION * len(shared):
        counted[default] = ablation.default
        shared &= pairs[default]
    runs = runs[runs["method"].isin(counted) & runs.index.isin(shared)].reset_index()
    figures = mean_over_seeds(runs, "method").query("metric == 'test_auc'")
    table = figures[["mean", "std"]].groupby("method").mean()
    if default in counted:
        gains = paired_intervals(runs, default, "test_auc").rename(columns={"mean": "difference"})
        table = table.join(gains)
    table = table.rename(index=counted).reindex(
        index=sorted({*ablation.paper, *values.values()}),
        columns=["mean", "std", "paper", "n", "difference", "low", "high"],
    )
    table["paper"] = pd.Series(ablation.paper, dtype=float)
    return AblationTable(ablation, table, runs["group"].nunique(), len(shared))
