"""The contract of a query strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.checks.promise import promise


def check_query_strategy(make: Callable[[], Any]) -> None:
    """Raise unless a strategy chooses distinct candidates, as many as asked, reproducibly.

    Parameters
    ----------
    make : callable
        Returns a new strategy, such as the class itself.

    Examples
    --------
    >>> from imboost.query import RandomRows
    >>> check_query_strategy(RandomRows)
    """
    rng = np.random.default_rng(0)
    two_clusters = np.concatenate([rng.normal(0, 1, 90), rng.normal(8, 2, 10)])
    heavy_tail = np.exp(3 * rng.normal(size=100))
    tables = {
        "two clusters": two_clusters,
        "one heavy tail": heavy_tail,
        "all equal": np.full(100, 3.0),
        "two values": np.repeat([0.0, 1.0], 50),
        "huge": two_clusters * 1e30,
    }
    everyone = np.arange(100)
    for name, scores in tables.items():
        for candidates in (everyone, everyone[::3], np.array([17])):
            for n in (1, 5, len(candidates), len(candidates) + 10):
                _check_choice(make, scores, candidates, n, f"scores with {name}, n={n}")


def _check_choice(
    make: Callable[[], Any],
    scores: NDArray[np.float64],
    candidates: NDArray[np.int64],
    n: int,
    where: str,
) -> None:
    before = scores.copy()
    chosen, again = (_choose(make(), scores, candidates, n) for _ in range(2))
    promise(np.issubdtype(chosen.dtype, np.integer), f"{where}: rows must be integers")
    promise(len(chosen) == min(n, len(candidates)), f"{where}: wrong number of rows")
    promise(len(set(chosen.tolist())) == len(chosen), f"{where}: a row was chosen twice")
    promise(np.isin(chosen, candidates).all(), f"{where}: a row is not a candidate")
    promise(np.array_equal(chosen, again), f"{where}: same random numbers, other rows")
    promise(np.array_equal(scores, before), f"{where}: the scores were changed")


def _choose(
    strategy: Any, scores: NDArray[np.float64], candidates: NDArray[np.int64], n: int
) -> NDArray[Any]:
    """Let a strategy choose, having seen a table and two rounds of answers if it wants to."""
    if hasattr(strategy, "set_embedding"):
        strategy.set_embedding(np.random.default_rng(2).normal(size=(len(scores), 3)).round(1))
    if hasattr(strategy, "update"):
        answers = np.array([1, 1, 0], dtype=np.int8)
        strategy.update(answers, answers)
        strategy.update(answers[:0], answers)  # a round in which no one could tell
    return np.asarray(strategy.select(scores, candidates, n, np.random.default_rng(1)))
