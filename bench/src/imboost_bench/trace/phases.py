"""A trace as a table, with losses in one of three scales, and its phases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from imboost_bench.trace.recording import CHANGES, PhaseKind, Trace

if TYPE_CHECKING:
    from pandas import DataFrame, Series

AS_THEY_ARE = "as they are"
SCALED = "scaled to [0, 1]"
"""By the smallest and the largest loss of the run. Like any fixed scale, it does not change which
way a risk moves; the constants of the theory are about such losses."""
SCALED_EACH = "scaled at each update"
"""By the extremes of every update, so that the scale moves with the losses."""

SMOOTHNESS = ["inlier_smoothness", "outlier_smoothness"]

_LOSSES = ["inlier_risk", "outlier_risk", "inlier_median", "outlier_median"]
_GRADIENTS = ["inlier_gradient_norm", "outlier_gradient_norm", "largest_gradient", *CHANGES]


class Phase(NamedTuple):
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
    """A trace as a table with losses in one scale, and its phases."""

    trace: Trace
    losses: str = AS_THEY_ARE

    @cached_property
    def frame(self) -> DataFrame:
        """One row per update, see `trace_frame`."""
        return trace_frame(self.trace, self.losses)

    @cached_property
    def phases(self) -> list[Phase]:
        """The phases in order."""
        start = self.frame.index[0]
        return [
            Phase(str(name), self.frame.loc[max(own.index[0] - 1, start)], own)
            for name, own in self.frame.groupby("name", sort=False)
        ]

    @property
    def memorized(self) -> DataFrame:
        """The updates to models whose outlier risk is above the inlier risk (assumption 1)."""
        return self.frame[self.frame["outlier_risk_is_higher"]]

    @property
    def trimmed(self) -> DataFrame:
        """The updates with a trimmed loss, of both phases."""
        return self.frame[self.frame["phase"] != PhaseKind.PLAIN]

    @property
    def gamma(self) -> float:
        """The growth of the batches per epoch."""
        return self.trace.detector.batch_growth

    @property
    def warmup(self) -> Phase:
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


def trace_frame(trace: Trace, losses: str = AS_THEY_ARE) -> DataFrame:
    """Return one row per update, with what the paper's claims are about as further columns.

    - inlier_fell, outlier_rose and both compare the risks with the previous update; NaN for the
      first one.
    - `outlier_risk_is_higher` is assumption 1, `is_opposed` assumption 4. The cosine of the
      gradients is 0 if one of them vanishes.
    - inlier_smoothness and outlier_smoothness estimate L of assumption 2: the change of a gradient
      divided by the length of the step. `dominance` is at least mu of assumption 2 and `margin` at
      least c of assumption 3, with losses scaled to [0, 1].

    Limits of a scale count as constants, so gradients are divided by their difference.
    """
    frame, means = trace.updates.copy(), math.nan
    if losses != AS_THEY_ARE:
        limits = frame[["loss_low", "loss_high"]]
        if losses == SCALED:
            extremes = limits["loss_low"].min(), limits["loss_high"].max()
            limits = limits.assign(loss_low=extremes[0], loss_high=extremes[1])
        low, size = limits["loss_low"], limits["loss_high"] - limits["loss_low"]
        size = size.where(size > 0, 1.0)
        frame[_LOSSES] = frame[_LOSSES].sub(low, axis=0).div(size, axis=0)
        frame[_GRADIENTS] = frame[_GRADIENTS].div(size, axis=0)
        frame["inner_product"] /= size**2
        start, length = (own.to_numpy()[:, None] for own in (low, size))
        scaled = (trace.inlier_losses - start) / length  # (updates, inliers)
        means = np.sqrt(scaled.clip(0.0)).mean(axis=1)
    step = frame["step_norm"].where(frame["step_norm"] > 0)
    frame[SMOOTHNESS] = frame[[*CHANGES]].div(step, axis=0)
    lengths = frame["inlier_gradient_norm"] * frame["outlier_gradient_norm"]
    frame["cosine"] = (frame["inner_product"] / lengths.where(lengths > 0)).fillna(0.0)
    frame["kept"] = frame["kept_inliers"] + frame["kept_outliers"]
    risk = frame["inlier_risk"].where(frame["inlier_risk"] > 0)
    frame["outliers_below_by_risk"] = frame["outliers_below"] / risk
    frame["dominance"] = frame["inlier_gradient_norm"] ** 2 / (2 * risk)
    frame["margin"] = 1 - means / risk**0.5
    frame["kept_inliers_by_batch"] = frame["kept_inliers"] / frame["batch_size"]
    frame["kept_outliers_by_first"] = frame["kept_outliers"] / frame["batch_size"].iloc[0]
    names = {PhaseKind.PLAIN: "plain warm-up", PhaseKind.TRIMMED: "trimmed warm-up"}
    frame["name"] = frame["phase"].map(names).fillna("round " + frame["round"].astype(str))
    frame["outlier_risk_is_higher"] = frame["outlier_risk"] > frame["inlier_risk"]
    frame["is_opposed"] = frame["inner_product"] < 0
    frame["inlier_fell"] = (frame["inlier_risk"].diff() < 0).astype(float)
    frame["outlier_rose"] = (frame["outlier_risk"].diff() > 0).astype(float)
    frame["both"] = frame["inlier_fell"] * frame["outlier_rose"]
    frame.loc[0, ["inlier_fell", "outlier_rose", "both"]] = math.nan
    return frame.set_index("update", drop=False)


def fraction(updates: DataFrame, part: str, whole: str) -> float:
    """Return the sum of a column of counts as a fraction of that of another."""
    return float(updates[part].sum() / max(updates[whole].sum(), 1))
