"""SWITCH: one strategy in the first rounds, another one afterwards."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from imboost.arrays import Indices
from imboost.labels import Labels
from imboost.query import registry  # as a module, since it imports this one
from imboost.query.strategy import (
    AdaptiveStrategy,
    DetectorStrategy,
    EmbeddingStrategy,
    FittedDetector,
    Points,
    QueryStrategy,
    Rng,
    Scores,
    needs_embedding,
    needs_members,
)
from imboost.validation import check_number


@dataclass
class Switch:
    """Select rows by one strategy in the first rounds and by another one afterwards.

    The default is the paper's schedule `rd-mm`: random rows in the first round, then rows on the
    boundary of a mixture. The state is the number of finished rounds and the state of both
    strategies.

    Parameters
    ----------
    first, second : str or QueryStrategy
        Names of strategies or strategies, which are copied.
    switch_round : int
        Number of rounds of the first strategy.

    References
    ----------
    "Memorize Early, Then Query: Inlier-Memorization-Guided Active Outlier Detection": random rows
    for the first round and MM for the remaining rounds reach a mean AUC of 0.840.

    Examples
    --------
    >>> import numpy as np
    >>> scores, rows, rng = np.arange(9.0), np.arange(9), np.random.default_rng(0)
    >>> schedule = Switch("cp", "hc", switch_round=1)
    >>> schedule.select(scores, rows, 2, rng).tolist()
    [0, 8]
    >>> answers = np.array([0, 1], dtype=np.int8)
    >>> schedule.update(answers, all_labels=answers)
    >>> schedule.select(scores, rows, 2, rng).tolist()
    [8, 7]
    """

    first: str | QueryStrategy = "rd"
    second: str | QueryStrategy = "mm"
    switch_round: int = 1
    _strategies: tuple[QueryStrategy, QueryStrategy] = field(init=False, repr=False)
    _n_rounds: int = field(init=False, default=0, repr=False)

    def __post_init__(self) -> None:
        """Check the settings and make the strategies; one object may be given twice."""
        check_number("switch_round", self.switch_round, minimum=0, whole=True)
        self._strategies = (
            deepcopy(registry.as_strategy("first", self.first)),
            deepcopy(registry.as_strategy("second", self.second)),
        )

    @property
    def current(self) -> QueryStrategy:
        """The strategy of the present round."""
        first, second = self._strategies
        return first if self._n_rounds < self.switch_round else second

    @property
    def needs_embedding(self) -> bool:
        """Whether one of the strategies uses distances between rows."""
        return any(needs_embedding(strategy) for strategy in self._strategies)

    @property
    def needs_members(self) -> bool:
        """Whether one of the strategies compares the members of a detector."""
        return any(needs_members(strategy) for strategy in self._strategies)

    def set_embedding(self, points: Points) -> None:
        """Pass the points to the strategies that use distances."""
        for strategy in self._strategies:
            if isinstance(strategy, EmbeddingStrategy):
                strategy.set_embedding(points)

    def set_detector(self, detector: FittedDetector, X: Any) -> None:
        """Pass the detector to the strategy of the present round."""
        if isinstance(self.current, DetectorStrategy):
            self.current.set_detector(detector, X)

    def select(self, scores: Scores, candidates: Indices, n: int, rng: Rng) -> Indices:
        """Return the rows that the strategy of the present round selects."""
        return self.current.select(scores, candidates, n, rng)

    def update(self, round_labels: Labels, all_labels: Labels) -> None:
        """Count the round; only the strategy that selected its rows gets the round's labels."""
        for strategy in self._strategies:
            if isinstance(strategy, AdaptiveStrategy):
                own = round_labels if strategy is self.current else round_labels[:0]
                strategy.update(own, all_labels)
        self._n_rounds += 1
