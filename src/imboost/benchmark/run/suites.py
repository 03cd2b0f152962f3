"""Suites: named lists of methods that are compared with each other."""

from __future__ import annotations

from imboost.benchmark.paper import METHODS
from imboost.benchmark.run.plan import Method
from imboost.benchmark.run.settings import Settings
from imboost.errors import UnknownNameError

# Active detectors that the paper does not compare, with their typical query strategies.
PEERS = (("aad", "rd"), ("aad", "hc"), ("pine", "rd"), ("pine", "hc"), ("trees", "mix"))

# The paper's comparison of query strategies (tables C.6 and C.7).
QUERIES = (("imboost", "rd"), ("imboost", "cp"), ("imboost", "mm"))

# `stack`, the paper's method and the strongest other methods.
LEADERS = (
    *(("stack", "spread"), ("imboost", "mm"), ("trees", "mix")),
    *(("trees", "rd"), ("aad", "rd"), ("xgbod", "rd")),
)

# Settings of `stack` that each remove one component.
STACK_SETTINGS = (
    "unsupervised_scores=('knn', 'pca', 'cells')",
    "unsupervised_scores=('isolation_forest', 'pca', 'cells')",
    "unsupervised_scores=('isolation_forest', 'knn', 'cells')",
    "base_learners=('extra_trees', 'linear', 'gaussian_process', 'scores')",
    "base_learners=('random_forest', 'linear', 'gaussian_process', 'scores')",
    "base_learners=('random_forest', 'extra_trees', 'gaussian_process', 'scores')",
    "base_learners=('random_forest', 'extra_trees', 'linear', 'scores')",
    "base_learners=('random_forest', 'extra_trees', 'linear', 'gaussian_process')",
    "score_weight_std=0",
    "prior_strength=1e9",
    "query__exploration=0",
    "query__patience=1e9",
    "query__uncertainty_power=0",
)

SUITES: dict[str, tuple[tuple[str, ...], ...]] = {
    "paper": tuple(METHODS),
    "queries": QUERIES,
    "peers": PEERS,
    "all": tuple(dict.fromkeys([*METHODS, *QUERIES, *PEERS])),
    "leaders": LEADERS,
    "stack-ablation": (
        ("stack", "spread"),
        *(("stack", "spread", setting) for setting in STACK_SETTINGS),
        ("stack", "rd"),  # random questions
    ),
}
"""Detector, query strategy and settings of every method, by suite."""


def find_suite(name: str) -> list[Method]:
    """Return the methods of the suite called `name`."""
    if name not in SUITES:
        raise UnknownNameError("suite", name, SUITES)
    return [
        Method.named(detector, query, Settings.parse(settings))
        for detector, query, *settings in SUITES[name]
    ]
