"""Query strategies, which select the rows to ask about by their scores.

A new strategy is a class like `RandomRows` and one line in `STRATEGIES`;
`imboost.checks.check_query_strategy` checks its contract.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from imboost.errors import UnknownNameError
from imboost.query.by_score import (
    AdaptiveBoundary,
    ConfidencePoles,
    DecisionBoundary,
    HighestScores,
    Mix,
    MixtureBoundary,
    RandomRows,
)
from imboost.query.protocols import AdaptiveStrategy, EmbeddingStrategy, QueryStrategy
from imboost.query.spread import Spread

__all__ = [
    "STRATEGIES",
    "AdaptiveBoundary",
    "AdaptiveStrategy",
    "ConfidencePoles",
    "DecisionBoundary",
    "EmbeddingStrategy",
    "HighestScores",
    "Mix",
    "MixtureBoundary",
    "QueryStrategy",
    "RandomRows",
    "Spread",
    "as_strategy",
    "make_strategy",
]

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


def make_strategy(
    name: str,
    strategies: Mapping[str, Callable[..., QueryStrategy]] = STRATEGIES,
    /,
    **settings: Any,
) -> QueryStrategy:
    """Return a new strategy; an unknown name or setting raises and suggests the nearest."""
    if name not in strategies:
        raise UnknownNameError("query strategy", name, strategies)
    known = signature(strategies[name]).parameters
    for setting in settings.keys() - known.keys():
        raise UnknownNameError(f"setting of {name}", setting, known)
    return strategies[name](**settings)


def as_strategy(setting: str, value: str | QueryStrategy) -> QueryStrategy:
    """Return the strategy that a setting names or is; raise if it is neither."""
    if isinstance(value, str):
        return make_strategy(value)
    if isinstance(value, type) or not isinstance(value, QueryStrategy):
        raise TypeError(f"{setting} must be a query strategy or the name of one, got {value!r}.")
    return value
