"""Methods that belong together: the columns of the paper, its queries, the peers."""

from __future__ import annotations

from imboost.benchmark.paper import METHODS
from imboost.benchmark.plan import Method
from imboost.errors import UnknownNameError

PEERS = (("aad", "rd"), ("aad", "hc"), ("pine", "rd"), ("pine", "hc"), ("trees", "mix"))
"""Active detectors outside the paper, with the questions their users would ask."""

QUERIES = (("imboost", "rd"), ("imboost", "cp"), ("imboost", "mm"))
"""The paper's comparison of query strategies (tables C.6 and C.7)."""

SUITES: dict[str, tuple[tuple[str, str], ...]] = {
    "paper": tuple(METHODS),
    "queries": QUERIES,
    "peers": PEERS,
    "all": tuple(dict.fromkeys([*METHODS, *QUERIES, *PEERS])),
}
"""Detector and query of every method, by the name of the suite."""


def find_suite(name: str) -> list[Method]:
    """Return the methods of the suite called `name`, or raise and suggest a near name."""
    if name not in SUITES:
        raise UnknownNameError("suite", name, SUITES)
    return [Method.named(detector, query) for detector, query in SUITES[name]]
