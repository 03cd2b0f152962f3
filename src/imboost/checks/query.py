"""Contract checks of a query strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats, Indices


def check_query_strategy(make: Callable[[], Any]) -> None:
    """Check that a strategy selects distinct candidates, as many as asked, reproducibly.

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
    examples = {
        "two clusters": two_clusters,
        "heavy tail": np.exp(3 * rng.normal(size=100)),
        "all equal": np.full(100, 3.0),
        "two values": np.repeat([0.0, 1.0], 50),
        "huge": two_clusters * 1e30,
    }
    rows = np.arange(100)
    for name, scores in examples.items():
        for candidates in (rows, rows[::3], np.array([17])):
            for n in (1, 5, len(candidates), len(candidates) + 10):
                _check_selection(make, scores, candidates, n, f"scores: {name}, n={n}")


def _check_selection(
    make: Callable[[], Any],
    scores: Floats,
    candidates: Indices,
    n: int,
    case: str,
) -> None:
    before = scores.copy()
    selected, again = (_select(make(), scores, candidates, n) for _ in range(2))
    assert np.issubdtype(selected.dtype, np.integer), f"{case}: rows must be integers"
    assert len(selected) == min(n, len(candidates)), f"{case}: wrong number of rows"
    assert len(set(selected.tolist())) == len(selected), f"{case}: a row was selected twice"
    assert np.isin(selected, candidates).all(), f"{case}: a row is not a candidate"
    assert np.array_equal(selected, again), f"{case}: same random numbers, different rows"
    assert np.array_equal(scores, before), f"{case}: the scores were changed"


def _select(strategy: Any, scores: Floats, candidates: Indices, n: int) -> NDArray[Any]:
    """Select rows; give the strategy embedding and updates where it takes them."""
    if hasattr(strategy, "set_embedding"):
        strategy.set_embedding(np.random.default_rng(2).normal(size=(len(scores), 3)).round(1))
    if hasattr(strategy, "update"):
        labels = np.array([1, 1, 0], dtype=np.int8)
        strategy.update(labels, labels)
        strategy.update(labels[:0], labels)  # a round with only unsure answers
    return np.asarray(strategy.select(scores, candidates, n, np.random.default_rng(1)))
