"""Suites: named lists of methods that are compared with each other."""

from __future__ import annotations

from dataclasses import dataclass

from imboost.detectors.stack.detector import BASE_LEARNERS
from imboost.detectors.stack.ensemble import NETWORK
from imboost.errors import UnknownNameError
from imboost_bench.datasets.splits import RANDOM, STRATIFIED
from imboost_bench.paper import METHODS
from imboost_bench.run.plan import Method
from imboost_bench.run.sampling import ALL_OUTLIERS, PAPER_SHARE
from imboost_bench.run.settings import join_settings

# Active detectors that the paper does not compare, with their typical query strategies.
PEERS = (("aad", "rd"), ("aad", "hc"), ("pine", "rd"), ("pine", "hc"), ("trees", "mix"))

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


@dataclass(frozen=True)
class Suite:
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
