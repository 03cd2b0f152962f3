"""All detectors and query strategies of the benchmark by name: the product's and the baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any, TypeVar

from imboost import detectors, query
from imboost.detectors.base import BaseDetector
from imboost.errors import UnknownNameError
from imboost.query.strategy import QueryStrategy
from imboost_bench.baselines.coniferest_forests import AAD, Pine
from imboost_bench.baselines.deep_sad import DeepSAD
from imboost_bench.baselines.deep_svdd import DeepSVDD
from imboost_bench.baselines.random_then_mixture import RandomThenMixture
from imboost_bench.baselines.xgbod import XGBOD

T = TypeVar("T")

DETECTORS: dict[str, Callable[..., BaseDetector]] = {
    **detectors.DETECTORS,
    "oc": partial(DeepSVDD, objective="oc"),
    "sb": partial(DeepSVDD, objective="sb"),
    "oc-nce": partial(DeepSVDD, objective="oc-nce"),
    "sb-nce": partial(DeepSVDD, objective="sb-nce"),
    "dsad": DeepSAD,
    "xgbod": XGBOD,
    "aad": AAD,
    "pine": Pine,
}

STRATEGIES: dict[str, Callable[..., QueryStrategy]] = {
    **query.STRATEGIES,
    "rd-mm": RandomThenMixture,
}


def make_detector(name: str, **settings: Any) -> BaseDetector:
    """Return a new detector; an unknown name or setting raises and suggests the nearest."""
    return _make("detector", DETECTORS, name, settings)


def make_strategy(name: str, **settings: Any) -> QueryStrategy:
    """Return a new query strategy; an unknown name or setting raises and suggests the nearest."""
    return _make("query strategy", STRATEGIES, name, settings)


def _make(
    kind: str, registry: Mapping[str, Callable[..., T]], name: str, settings: dict[str, Any]
) -> T:
    if name not in registry:
        raise UnknownNameError(kind, name, registry)
    known = signature(registry[name]).parameters
    for setting in settings.keys() - known.keys():
        raise UnknownNameError(f"setting of {name}", setting, known)
    return registry[name](**settings)
