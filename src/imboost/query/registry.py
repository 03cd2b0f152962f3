"""Query strategies by name.

A new strategy is one file with a class like `RandomRows` and one line in `STRATEGIES`.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from imboost.errors import UnknownNameError
from imboost.query.adaptive_boundary import AdaptiveBoundary
from imboost.query.confidence_poles import ConfidencePoles
from imboost.query.decision_boundary import DecisionBoundary
from imboost.query.highest_scores import HighestScores
from imboost.query.mix import Mix
from imboost.query.mixture_boundary import MixtureBoundary
from imboost.query.random_rows import RandomRows
from imboost.query.spread import Spread
from imboost.query.strategy import QueryStrategy

STRATEGIES: dict[str, Callable[..., QueryStrategy]] = {
    "rd": RandomRows,
    "cp": ConfidencePoles,
    "mm": MixtureBoundary,
    "hc": HighestScores,
    "db": DecisionBoundary,
    "ab": AdaptiveBoundary,
    "mix": Mix,
    "spread": Spread,
}
"""Query strategies by name."""


def make_strategy(name: str, **settings: Any) -> QueryStrategy:
    """Return a new strategy; an unknown name raises and suggests the nearest."""
    if name not in STRATEGIES:
        raise UnknownNameError("query strategy", name, STRATEGIES)
    make = STRATEGIES[name]
    known = signature(make).parameters
    for setting in settings.keys() - known.keys():
        raise UnknownNameError(f"setting of {name}", setting, known)
    return make(**settings)


def as_strategy(setting: str, value: str | QueryStrategy) -> QueryStrategy:
    """Return the strategy that a setting names or is; raise if it is neither."""
    if isinstance(value, str):
        return make_strategy(value)
    if isinstance(value, type) or not isinstance(value, QueryStrategy):
        raise TypeError(f"{setting} must be a query strategy or the name of one, got {value!r}.")
    return value
