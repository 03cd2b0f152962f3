"""Query strategies, which select the rows to ask about by their scores.

A new strategy is one file with a class like `RandomRows` and one line in `STRATEGIES`;
`imboost.checks.check_query_strategy` checks its contract.
"""

from imboost.query.adaptive_boundary import AdaptiveBoundary
from imboost.query.confidence_poles import ConfidencePoles
from imboost.query.decision_boundary import DecisionBoundary
from imboost.query.highest_scores import HighestScores
from imboost.query.mix import Mix
from imboost.query.mixture_boundary import MixtureBoundary
from imboost.query.random_rows import RandomRows
from imboost.query.registry import STRATEGIES, as_strategy, make_strategy
from imboost.query.spread import Spread
from imboost.query.strategy import (
    AdaptiveStrategy,
    EmbeddingStrategy,
    QueryStrategy,
)

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
