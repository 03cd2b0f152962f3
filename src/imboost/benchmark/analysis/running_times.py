"""Running times as ratios to a reference method (the paper's table C.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imboost.benchmark.analysis.method_key import MethodKey
from imboost.benchmark.paper import RUNNING_TIMES

if TYPE_CHECKING:
    from pandas import DataFrame


def time_ratios(runs: DataFrame, reference: str, keys: dict[str, MethodKey]) -> DataFrame:
    """Compare the running times of methods with the reference's, machine by machine.

    Only runs of the same data set and seed on the same machine are compared.

    Parameters
    ----------
    runs : DataFrame
        The successful runs.
    reference : str
        Name of a method.
    keys : dict
        The methods by name.

    Returns
    -------
    DataFrame
        The columns method, device, host, runs, seconds, reference_seconds, ratio and paper (the
        ratio of the paper's times, NaN where it has none); fastest first on every machine.
    """
    import pandas as pd

    same = ["dataset", "seed", "device", "host"]
    base = runs.loc[runs["method"] == reference, [*same, "seconds"]]
    pairs = runs.merge(base, on=same, suffixes=("", "_reference"))
    times = pairs.groupby(["method", "device", "host"], sort=False, as_index=False).agg(
        runs=("seconds", "size"),
        seconds=("seconds", "sum"),
        reference_seconds=("seconds_reference", "sum"),
    )
    times = times[times["reference_seconds"] > 0]
    papers = {
        name: RUNNING_TIMES.get((key.detector, key.query)) if key.is_plain else None
        for name, key in keys.items()
    }
    paper = times["method"].map(pd.Series(papers, dtype=float)).astype(float)
    times = times.assign(
        ratio=times["seconds"] / times["reference_seconds"],
        paper=paper / (papers[reference] or float("nan")),
    )
    return times.sort_values(["device", "host", "ratio"], kind="stable")
