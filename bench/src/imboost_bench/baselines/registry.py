"""All detectors and query strategies of the benchmark by name: the product's and the baselines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from imboost import query
from imboost.detectors.registry import known_detectors
from imboost.errors import UnknownNameError
from imboost.query.strategy import QueryStrategy
from imboost_bench.baselines.deep_svdd import DeepSVDD
from imboost_bench.baselines.random_then_mixture import RandomThenMixture

# Entry points, like the classes of the other baselines: see `pyproject.toml`.
OC = partial(DeepSVDD, objective="oc")
SB = partial(DeepSVDD, objective="sb")
OC_NCE = partial(DeepSVDD, objective="oc-nce")
SB_NCE = partial(DeepSVDD, objective="sb-nce")

DETECTORS = known_detectors()

STRATEGIES: dict[str, Callable[..., QueryStrategy]] = {
    **query.STRATEGIES,
    "rd-mm": RandomThenMixture,
}


def make_strategy(name: str, **settings: Any) -> QueryStrategy:
    """Return a new query strategy; an unknown name or setting raises and suggests the nearest."""
    if name not in STRATEGIES:
        raise UnknownNameError("query strategy", name, STRATEGIES)
    known = signature(STRATEGIES[name]).parameters
    for setting in settings.keys() - known.keys():
        raise UnknownNameError(f"setting of {name}", setting, known)
    return STRATEGIES[name](**settings)
