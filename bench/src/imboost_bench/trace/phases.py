"""A trace as a table, with losses in one of three scales, and its phases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from imboost.arrays import Floats
from imboost_bench.trace.recording import PhaseKind, Trace

if TYPE_CHECKING:
    from pandas import DataFrame, Series

AS_THEY_ARE = "as they are"
SCALED = "scaled to [0, 1]"
"""By the smallest and the largest loss of the run. Like any fixed scale, it does not change which
way a risk moves; the constants of the theory are about such losses."""
SCALED_EACH = "scaled at each update"
"""By the extremes of every update, so that the scale moves with the losses."""


@dataclass(frozen=True)
class Phase:
    """Successive updates: a part of the warm-up, a round, or several rounds.

    `before` is the update before the phase; the first update itself at the start of a trace.
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


@dataclass(frozen=True)
class Reading:
    """A trace as a table with losses in one scale, and its phases.

    Parameters
    ----------
    trace : Trace
    losses : {"as they are", "scaled to [0, 1]", "scaled at each update"}
    frame : DataFrame
        See `trace_frame`.
    phases : list of Phase
    """

    trace: Trace
    losses: str
    frame: DataFrame
    phases: list[Phase]

    @classmethod
    def of(cls, trace: Trace, losses: str = AS_THEY_ARE) -> Reading:
        """Read a trace."""
        frame = trace_frame(trace, losses)
        return cls(trace, losses, frame, phases_of(frame))

    @property
    def memorized(self) -> DataFrame:
        """The updates to models whose outlier risk is above the inlier risk (assumption 1)."""
        return self.frame[self.frame["outlier_risk_is_higher"]]

    @property
    def trimmed(self) -> Phase:
        """The trimmed warm-up."""
        return next(p for p in self.phases if p.first["phase"] == PhaseKind.TRIMMED)

    @property
    def rounds(self) -> list[Phase]:
        """The rounds of polarization."""
        return [p for p in self.phases if p.first["phase"] == PhaseKind.POLARIZATION]

    @property
    def polarization(self) -> Phase:
        """All rounds together."""
        updates = self.frame[self.frame["phase"] == PhaseKind.POLARIZATION]
        return Phase("polarization", self.rounds[0].before, updates)


def scale_losses(frame: DataFrame, low: float | Series, high: float | Series) -> DataFrame:
    """Scale losses between two limits, of the run or of every update, to [0, 1].

    Limits of an update count as constants, so gradients are divided by their difference.
    """
    size = high - low
    losses = ["inlier_risk", "outlier_risk", "inlier_median", "outlier_median"]
    gradients = ["inlier_gradient_norm", "outlier_gradient_norm", "largest_gradient"]
    gradients += ["inlier_gradient_change", "outlier_gradient_change"]
    return frame.assign(
        **{name: (frame[name] - low) / size for name in losses},
        **{name: frame[name] / size for name in gradients},
        inner_product=frame["inner_product"] / size**2,
    )


def _with_constants(scaled: DataFrame, inlier_losses: Floats) -> DataFrame:
    """Add what mu of assumption 2 (`dominance`) and c of assumption 3 (`margin`) bound below.

    `inlier_losses` (updates, inliers) are scaled as well.
    """
    risk = scaled["inlier_risk"].where(scaled["inlier_risk"] > 0)
    return scaled.assign(
        dominance=scaled["inlier_gradient_norm"] ** 2 / (2 * risk),
        margin=1 - np.sqrt(inlier_losses).mean(axis=1) / risk**0.5,
    )


def trace_frame(trace: Trace, losses: str = AS_THEY_ARE) -> DataFrame:
    """Return one row per update, with the checks of the paper's claims as further columns.

    The columns inlier_fell, outlier_rose and both compare the risks with the previous update
    and are NaN for the first one. `outlier_risk_is_higher` is assumption 1,
    `is_opposed` assumption 4. The cosine of the gradients is 0 if one of them vanishes.
    `inlier_smoothness` and `outlier_smoothness` estimate L of assumption 2: the change of a
    gradient divided by the length of the step.
    """
    import pandas as pd

    frame = pd.DataFrame([vars(update) for update in trace.updates])
    if losses == SCALED:
        low, high = frame["loss_low"].min(), frame["loss_high"].max()
        high = high if high > low else low + 1.0
        scaled = ((trace.inlier_losses - low) / (high - low)).clip(0.0)
        frame = _with_constants(scale_losses(frame, low, high), scaled)
    elif losses == SCALED_EACH:
        low, high = frame["loss_low"], frame["loss_high"]
        frame = scale_losses(frame, low, high.where(high > low, low + 1.0))
    for kind in ("inlier", "outlier"):
        step = frame["step_norm"].where(frame["step_norm"] > 0)
        frame[f"{kind}_smoothness"] = frame[f"{kind}_gradient_change"] / step
    lengths = frame["inlier_gradient_norm"] * frame["outlier_gradient_norm"]
    frame["cosine"] = (frame["inner_product"] / lengths.where(lengths > 0)).fillna(0.0)
    frame["kept"] = frame["kept_inliers"] + frame["kept_outliers"]
    names = {PhaseKind.PLAIN: "plain warm-up", PhaseKind.TRIMMED: "trimmed warm-up"}
    frame["name"] = [names.get(u.phase, f"round {u.round}") for u in trace.updates]
    frame["outlier_risk_is_higher"] = frame["outlier_risk"] > frame["inlier_risk"]
    frame["is_opposed"] = frame["inner_product"] < 0
    frame["inlier_fell"] = (frame["inlier_risk"].diff() < 0).astype(float)
    frame["outlier_rose"] = (frame["outlier_risk"].diff() > 0).astype(float)
    frame["both"] = frame["inlier_fell"] * frame["outlier_rose"]
    frame.loc[0, ["inlier_fell", "outlier_rose", "both"]] = math.nan
    return frame.set_index("update", drop=False)


def phases_of(frame: DataFrame) -> list[Phase]:
    """Return the phases in order."""
    return [
        Phase(str(name), frame.loc[max(own.index[0] - 1, frame.index[0])], own)
        for name, own in frame.groupby("name", sort=False)
    ]


def true_since(is_true: Series) -> int | None:
    """Return the first update from which on all values are true; None if the last is false."""
    is_always = is_true[::-1].cummin()[::-1]
    return int(is_always.idxmax()) if is_always.iloc[-1] else None


def quarters(frame: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return the first and the last quarter of updates."""
    size = max(len(frame) // 4, 1)
    return frame.iloc[:size], frame.iloc[-size:]


def fraction(updates: DataFrame, part: str, whole: str) -> float:
    """Return the sum of a column of counts as a fraction of that of another."""
    return float(updates[part].sum() / max(updates[whole].sum(), 1))


def fraction_error(first: DataFrame, second: DataFrame) -> float:
    """Return the standard error of the difference between two fractions of kept outliers.

    The rows kept by trimming count as independent draws from one population.
    """
    sizes = [max(updates["kept"].sum(), 1) for updates in (first, second)]
    n_outliers = first["kept_outliers"].sum() + second["kept_outliers"].sum()
    pooled = n_outliers / max(first["kept"].sum() + second["kept"].sum(), 1)
    return math.sqrt(pooled * (1 - pooled) * sum(1 / size for size in sizes))
