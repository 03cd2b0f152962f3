"""Query strategies: scores in, rows to ask about out.

A further strategy is one new file with a class like `RandomRows` and one line in
`STRATEGIES`; `imboost.checks.check_query_strategy` tells whether it keeps the contract.
"""

from collections.abc import Callable

from imboost.errors import UnknownNameError
from imboost.query.confidence_poles import ConfidencePoles
from imboost.query.mixture_boundary import MixtureBoundary
from imboost.query.random_rows import RandomRows
from imboost.query.strategy import QueryStrategy

STRATEGIES: dict[str, Callable[[], QueryStrategy]] = {
    "rd": RandomRows,
    "cp": ConfidencePoles,
    "mm": MixtureBoundary,
}


def make_strategy(name: str) -> QueryStrategy:
    """Return a new strategy called `name`, or raise and suggest a near name."""
    if name not in STRATEGIES:
        raise UnknownNameError("query strategy", name, STRATEGIES)
    return STRATEGIES[name]()


__all__ = [
    "STRATEGIES",
    "ConfidencePoles",
    "MixtureBoundary",
    "QueryStrategy",
    "RandomRows",
    "make_strategy",
]
