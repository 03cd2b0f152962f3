"""Synthetic traces with known findings."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from imboost_bench.run.protocol import RunSpec
from imboost_bench.trace.recording import PhaseKind, Trace

START = {
    "update": 1,
    "epoch": 0,
    "phase": PhaseKind.PLAIN,
    "round": 0,
    "batch_size": 100,
    "batch_outliers": 10,
    "kept_inliers": 90,
    "kept_outliers": 10,
    "answered_inliers": 0,
    "answered_outliers": 0,
    "inlier_risk": 10.0,
    "outlier_risk": 11.0,
    "inlier_median": 10.0,
    "outlier_median": 11.0,
    "inner_product": -2.0,
    "inlier_gradient_norm": 1.0,
    "outlier_gradient_norm": 4.0,
    "loss_low": -30.0,
    "loss_high": 50.0,
    "outliers_below": 0.0,
    "largest_gradient": 5.0,
    "step_norm": 0.1,
    "inlier_gradient_change": 0.2,
    "outlier_gradient_change": 0.3,
}
STAGES = (PhaseKind.PLAIN, PhaseKind.TRIMMED, PhaseKind.POLARIZATION, PhaseKind.POLARIZATION)
STAGE_SIZE = 8


SPREAD = (1 - 0.62**2) ** 0.5  # of two losses whose mean square root is 0.9 times that of the mean


def synthetic_trace(change=lambda update: {}, spread=lambda update: SPREAD):
    """Return a trace in which every claim holds, changed update by update.

    Two stages of warm-up and two rounds, eight updates each: the inlier risk falls by 1 and,
    from the first round on, the outlier risk rises by 2 with every update. Losses range from -30
    to 50, and a sixth of the answers are outliers. The losses of two measured inliers differ from
    their mean by the factors 1 - `spread` and 1 + `spread`, above -30.
    """
    updates = []
    for number in range(1, len(STAGES) * STAGE_SIZE + 1):
        stage = (number - 1) // STAGE_SIZE
        n_polarized = max(0, number - 2 * STAGE_SIZE)
        is_late = number > STAGE_SIZE * 3 // 2
        update = dict(
            START,
            update=number,
            epoch=(number - 1) // 4,
            phase=STAGES[stage],
            round=max(0, stage - 1),
            answered_inliers=5 * max(0, stage - 1),
            answered_outliers=max(0, stage - 1),
            kept_outliers=10 if stage == 0 else 2 if is_late else 9,
            kept_inliers=90 if stage == 0 else 88,
            inlier_risk=11.0 - number,
            inlier_median=11.0 - number,
            outlier_risk=11.0 + 2 * n_polarized,
            outlier_median=11.0 + 2 * n_polarized,
        )
        updates.append(SimpleNamespace(**update | change(SimpleNamespace(**update))))
    spec = RunSpec("imboost", "mm", "synthetic", 1, rounds=2)
    factors = np.array([[1 - spread(own), 1 + spread(own)] for own in updates])
    losses = factors * [[own.inlier_risk + 30.0] for own in updates] - 30.0
    frame = pd.DataFrame([vars(own) for own in updates])
    return Trace(spec, 900, 100, frame, losses.astype(np.float32))
