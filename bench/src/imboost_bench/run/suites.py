"""Suites and the paper's ablations: named lists of methods that are compared with each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from imboost.detectors.stack.detector import BASE_LEARNERS
from imboost.detectors.stack.ensemble import NETWORK
from imboost.errors import UnknownNameError
from imboost_bench.datasets.splits import RANDOM, STRATIFIED
from imboost_bench.paper import METHODS
from imboost_bench.run.plan import Method
from imboost_bench.run.query_protocol import ALL_OUTLIERS, PAPER_SHARE
from imboost_bench.run.settings import join_settings

# Active detectors that the paper does not compare, with their typical query strategies.
PEERS = (("aad", "rd"), ("aad", "hc"), ("trees", "mix"))

# The paper's comparison of query strategies (tables C.6 and C.7; rd-mm in its text).
QUERIES = (("imboost", "rd"), ("imboost", "cp"), ("imboost", "mm"), ("imboost", "rd-mm"))

# `stack`, the paper's method and the strongest other methods.
LEADERS = (
    *(("stack", "spread"), ("imboost", "mm"), ("trees", "mix")),
    *(("trees", "rd"), ("aad", "rd"), ("xgbod", "rd")),
)


def _without(learner: str) -> str:
    """Return the setting of `stack` that removes a base learner."""
    return f"base_learners={tuple(name for name in BASE_LEARNERS if name != learner)}"


# Settings of `stack` that each remove one component.
STACK_SETTINGS = (
    "unsupervised_scores=('knn', 'pca', 'cells')",
    "unsupervised_scores=('isolation_forest', 'pca', 'cells')",
    "unsupervised_scores=('isolation_forest', 'knn', 'cells')",
    *(_without(learner) for learner in BASE_LEARNERS),
    "score_weight_std=0",
    "prior_strength=1e9",
    "query__exploration=0",
    "query__patience=1e9",
    "query__uncertainty_power=0",
)


class Suite(NamedTuple):
    """Methods, each with its query strategy and settings, and the rows they are compared on."""

    methods: tuple[tuple[str, ...], ...]
    outlier_share: str = ALL_OUTLIERS
    split: str = STRATIFIED

    def make_methods(self) -> list[Method]:
        """Check names and settings and return the methods."""
        return [
            Method.named(detector, query, join_settings(settings))
            for detector, query, *settings in self.methods
        ]


SUITES: dict[str, Suite] = {
    "paper": Suite(tuple(METHODS)),
    "paper-protocol": Suite(tuple(METHODS), outlier_share=PAPER_SHARE, split=RANDOM),
    "queries": Suite(QUERIES),
    "peers": Suite(PEERS),
    "all": Suite(tuple(dict.fromkeys([*METHODS, *QUERIES, *PEERS]))),
    "leaders": Suite(LEADERS),
    "stack-ablation": Suite(
        (
            ("stack", "spread"),
            *(("stack", "spread", setting) for setting in STACK_SETTINGS),
            ("stack", "rd"),  # random questions
        )
    ),
    "pretrained": Suite(
        (("stack", "spread"), ("stack", "spread", _without(NETWORK)), ("pretrained", "spread"))
    ),
}
"""All suites by name."""


def find_suite(name: str) -> Suite:
    """Return the suite called `name`."""
    if name not in SUITES:
        raise UnknownNameError("suite", name, SUITES)
    return SUITES[name]


class Ablation(NamedTuple):
    """A setting of IMBoost and its values (tables C.8 to C.12).

    `symbol` and `table` are the paper's, and `paper` its mean test AUC over 57 data sets by value.
    The name of a `setting` of the query strategy has its prefix.
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
