"""IMBoost with one setting changed, next to the paper's tables C.8 to C.12."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from imboost_bench.analysis.comparison import mean_over_seeds, paired_intervals
from imboost_bench.analysis.method_key import IMBOOST, MethodKey
from imboost_bench.run.settings import read_settings
from imboost_bench.run.suites import ABLATIONS, Ablation

if TYPE_CHECKING:
    from pandas import DataFrame

# Methods with results on a smaller fraction of the data sets, or values of a setting with a
# smaller fraction of the runs, are left out: comparisons are on what all others have.
MIN_FRACTION = 0.5


class AblationTable(NamedTuple):
    """All values of one setting, over the `n_data_sets` and `n_runs` that they share."""

    ablation: Ablation
    values: DataFrame  # test AUC by value, the paper's, and paired differences to the default
    n_data_sets: int
    n_runs: int


def changed_value(key: MethodKey) -> tuple[Ablation, float] | None:
    """Return the ablation a method belongs to and its value; None for any other method."""
    values = read_settings(key.settings)
    if len(values) == 1 and key._replace(settings="") == IMBOOST:
        [(setting, value)] = values.items()
        for ablation in ABLATIONS.values():
            if setting == ablation.setting and isinstance(value, int | float):
                return (ablation, value) if value != ablation.default else None
    return None


def ablation_tables(runs: DataFrame, keys: dict[str, MethodKey]) -> dict[str, AblationTable]:
    """Return a table for every ablation with successful runs, by a name such as "c8_lambda1"."""
    changed = {name: changed_value(key) for name, key in keys.items()}
    tables = {}
    for short, ablation in ABLATIONS.items():
        values = {name: own[1] for name, own in changed.items() if own and own[0] is ablation}
        if values:
            name = f"{ablation.table.replace('C.', 'c')}_{short}"
            tables[name] = _ablation_table(ablation, values, runs)
    return tables


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
