"""The phases of a trace: the plain warm-up, the trimmed warm-up and every round."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from imboost.benchmark.trace.recording import PhaseKind, Trace

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True)
class Phase:
    """Successive updates: a part of the warm-up, a round, or several rounds.

    Parameters
    ----------
    name : str
    before : Series
        The update before the phase; the first update itself at the start of a trace.
    updates : DataFrame
        Rows of `trace_frame`.
    """

    name: str
    before: Series
    updates: DataFrame

    @property
    def first(self) -> Series:
        """The first update."""
        return self.updates.iloc[0]

    @property
    def last(self) -> Series:
        """The last update."""
        return self.updates.iloc[-1]


def trace_frame(trace: Trace) -> DataFrame:
    """Return one row per update, with the checks of the paper's claims as further columns.

    The columns inlier_fell, outlier_rose and both compare the risks with the previous update
    and are NaN for the first one. `outlier_risk_is_higher` is assumption 1,
    `is_opposed` assumption 4.
    """
    import pandas as pd

    frame = pd.DataFrame(
        [{**asdict(u), "cosine": u.cosine, "kept": u.kept} for u in trace.updates]
    )
    names = {PhaseKind.PLAIN: "plain warm-up", PhaseKind.TRIMMED: "trimmed warm-up"}
    frame["name"] = [names.get(u.phase, f"round {u.round}") for u in trace.updates]
    frame["outlier_risk_is_higher"] = frame["outlier_risk"] > frame["inlier_risk"]
    frame["is_opposed"] = frame["inner_product"] < 0
    frame["inlier_fell"] = frame["inlier_risk"].diff() < 0
    frame["outlier_rose"] = frame["outlier_risk"].diff() > 0
    frame["both"] = frame["inlier_fell"] & frame["outlier_rose"]
    changes = ["inlier_fell", "outlier_rose", "both"]
    frame = frame.astype(dict.fromkeys(changes, float))
    frame.loc[0, changes] = math.nan
    return frame.set_index("update", drop=False)


def phases_of(frame: DataFrame) -> list[Phase]:
    """Return the phases in order."""
    groups = frame.groupby("name", sort=False)
    return [
        Phase(str(name), frame.loc[max(own.index[0] - 1, frame.index[0])], own)
        for name, own in groups
    ]


def true_since(is_true: Series) -> int | None:
    """Return the first update from which on all values are true; None if the last is false."""
    is_always = is_true[::-1].cummin()[::-1]
    return int(is_always.idxmax()) if is_always.iloc[-1] else None


def quarters(frame: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return the first and the last quarter of updates."""
    size = max(len(frame) // 4, 1)
    return frame.iloc[:size], frame.iloc[-size:]


def kept_outlier_share(updates: DataFrame) -> float:
    """Return the fraction of outliers among the rows kept by trimming."""
    return float(updates["kept_outliers"].sum() / max(updates["kept"].sum(), 1))


def share_of_outliers_kept(updates: DataFrame) -> float:
    """Return the fraction of the outliers in the batches that are kept by trimming."""
    return float(updates["kept_outliers"].sum() / max(updates["batch_outliers"].sum(), 1))


def share_error(first: DataFrame, second: DataFrame) -> float:
    """Return the standard error of the difference between two outlier shares.

    The rows kept by trimming count as independent draws from one population.
    """
    sizes = [max(updates["kept"].sum(), 1) for updates in (first, second)]
    n_outliers = first["kept_outliers"].sum() + second["kept_outliers"].sum()
    share = n_outliers / max(first["kept"].sum() + second["kept"].sum(), 1)
    return math.sqrt(share * (1 - share) * sum(1 / size for size in sizes))
