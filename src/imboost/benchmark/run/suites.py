"""Methods that belong together: the columns of the paper, the peers, our own and its parts."""

from __future__ import annotations

from imboost.benchmark.paper import METHODS
from imboost.benchmark.run.plan import Method
from imboost.benchmark.run.settings import Settings
from imboost.errors import UnknownNameError

PEERS = (("aad", "rd"), ("aad", "hc"), ("pine", "rd"), ("pine", "hc"), ("trees", "mix"))
"""Active detectors outside the paper, with the questions their users would ask."""

QUERIES = (("imboost", "rd"), ("imboost", "cp"), ("imboost", "mm"))
"""The paper's comparison of query strategies (tables C.6 and C.7)."""

LEADERS = (
    ("stack", "spread"),
    ("imboost", "mm"),
    ("trees", "mix"),
    ("trees", "rd"),
    ("aad", "rd"),
    ("xgbod", "rd"),
)
"""Our own detector beside the paper's and the strongest rivals."""

REMOVED = (
    "looks=('distances', 'rest', 'loneliness')",
    "looks=('isolation', 'rest', 'loneliness')",
    "looks=('isolation', 'distances', 'loneliness')",
    "looks=('isolation', 'distances', 'rest')",
    "experts=('components', 'linear', 'process', 'views')",
    "experts=('searching', 'linear', 'process', 'views')",
    "experts=('searching', 'components', 'process', 'views')",
    "experts=('searching', 'components', 'linear', 'views')",
    "experts=('searching', 'components', 'linear', 'process')",
    "view_freedom=0",
    "start_trust=1e9",
    "query__blind_share=0",
    "query__patience=1e9",
    "query__doubt_power=0",
    "query__distance_power=0",
)
"""Settings of `stack` that take one ingredient away."""

INGREDIENTS = (
    ("stack", "spread"),
    *(("stack", "spread", removed) for removed in REMOVED),
    ("stack", "rd"),
)
"""Our own detector, with one ingredient taken away, and with random questions."""

SUITES: dict[str, tuple[tuple[str, ...], ...]] = {
    "paper": tuple(METHODS),
    "queries": QUERIES,
    "peers": PEERS,
    "all": tuple(dict.fromkeys([*METHODS, *QUERIES, *PEERS])),
    "leaders": LEADERS,
    "ingredients": INGREDIENTS,
}
"""Detector, query and settings of every method, by the name of the suite."""


def find_suite(name: str) -> list[Method]:
    """Return the methods of the suite called `name`, or raise and suggest a near name."""
    if name not in SUITES:
        raise UnknownNameError("suite", name, SUITES)
    return [
        Method.named(detector, query, Settings.parse(settings))
        for detector, query, *settings in SUITES[name]
    ]
