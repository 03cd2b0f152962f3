"""The paper's ablations: IMBoost with one setting changed at a time (tables C.8 to C.12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imboost.errors import UnknownNameError
from imboost_bench.run.plan import Method


@dataclass(frozen=True)
class Ablation:
    """A setting, its values and the paper's test AUC with each of them.

    Parameters
    ----------
    symbol, table : str
        Symbol of the setting in the paper, and number of the paper's table.
    setting : str
        Name of the setting, with the prefix if it belongs to the query strategy.
    default : float
        Its default value.
    paper : mapping
        Mean test AUC over the paper's 57 data sets, by value.
    """

    symbol: str
    table: str
    setting: str
    default: float
    paper: Mapping[int, float] | Mapping[float, float]

    @property
    def methods(self) -> list[Method]:
        """IMBoost with each of the values."""
        changes = ["" if v == self.default else f"{self.setting}={v}" for v in self.paper]
        return [Method.named("imboost", "mm", change) for change in changes]


_INLIER_WEIGHTS = {0: 0.685, 1: 0.827, 2: 0.847, 3: 0.829, 5: 0.818, 7: 0.809, 10: 0.804}
_OUTLIER_WEIGHTS = {0: 0.758, 1: 0.847, 2: 0.826, 3: 0.794, 5: 0.752, 7: 0.739, 10: 0.725}
_THRESHOLD_MIXES = {0.0: 0.836, 0.2: 0.840, 0.4: 0.847, 0.6: 0.832, 0.8: 0.838, 1.0: 0.835}
_ALPHAS = {0.3: 0.843, 0.4: 0.847, 0.5: 0.841, 0.6: 0.842, 0.7: 0.842}
_TRIMMED_EPOCHS = {10: 0.824, 20: 0.840, 30: 0.836, 40: 0.847, 50: 0.829}

ABLATIONS: dict[str, Ablation] = {
    "lambda1": Ablation("λ₁", "C.8", "inlier_weight", 2, _INLIER_WEIGHTS),
    "lambda2": Ablation("λ₂", "C.9", "outlier_weight", 1, _OUTLIER_WEIGHTS),
    "xi": Ablation("ξ", "C.10", "threshold_mix", 0.4, _THRESHOLD_MIXES),
    "alpha": Ablation("α", "C.11", "query__alpha", 0.4, _ALPHAS),
    "T1": Ablation("T₁", "C.12", "trimmed_epochs", 40, _TRIMMED_EPOCHS),
}


def find_ablations(name: str) -> list[Ablation]:
    """Return the ablation called `name`, or every ablation for "all"."""
    if name == "all":
        return list(ABLATIONS.values())
    if name not in ABLATIONS:
        raise UnknownNameError("ablation", name, [*ABLATIONS, "all"])
    return [ABLATIONS[name]]
