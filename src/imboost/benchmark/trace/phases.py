"""A trace in stages: the two parts of the warm-up, and every round."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from imboost.benchmark.trace.recording import Phase, Trace, Update

Updates = Sequence[Update]


@dataclass(frozen=True)
class Stage:
    """Successive updates: a part of the warm-up, a round, or several of these.

    `before` is the update before the first one; of the first stage, its own first update.
    """

    name: str
    before: Update
    updates: tuple[Update, ...]

    @property
    def first(self) -> Update:
        """The update that begins the stage."""
        return self.updates[0]

    @property
    def last(self) -> Update:
        """The update that ends the stage."""
        return self.updates[-1]

    def share(self, is_true: Callable[[Update], bool]) -> float:
        """Return the share of updates of which something is true."""
        return sum(map(is_true, self.updates)) / len(self.updates)

    def share_of_changes(self, is_true: Callable[[Update, Update], bool]) -> float:
        """Return the share of updates of which something is true, given the one before."""
        pairs = [(a, b) for a, b in pairwise([self.before, *self.updates]) if a is not b]
        return sum(is_true(a, b) for a, b in pairs) / max(len(pairs), 1)


def stages_of(trace: Trace) -> list[Stage]:
    """Return the plain and the trimmed warm-up and every round, in order."""
    names = {Phase.PLAIN: "plain warm-up", Phase.TRIMMED: "trimmed warm-up"}
    groups: dict[str, list[Update]] = {}
    for update in trace.updates:
        groups.setdefault(names.get(update.phase, f"round {update.round}"), []).append(update)
    before = trace.updates[0]
    stages = []
    for name, updates in groups.items():
        stages.append(Stage(name, before, tuple(updates)))
        before = updates[-1]
    return stages


def first_for_good(updates: Updates, is_true: Callable[[Update], bool]) -> int | None:
    """Return the update from which on something is always true; None if it is not at last."""
    since = None
    for update in reversed(updates):
        if not is_true(update):
            break
        since = update.update
    return since


def quarters(updates: Updates) -> tuple[Updates, Updates]:
    """Return the first and the last quarter."""
    size = max(len(updates) // 4, 1)
    return updates[:size], updates[-size:]


def kept_outlier_share(updates: Updates) -> float:
    """Return the share of outliers in all rows that these updates had inside the loss."""
    n_outliers = sum(update.kept_outliers for update in updates)
    return n_outliers / max(sum(update.kept for update in updates), 1)


def share_of_outliers_kept(updates: Updates) -> float:
    """Return how many of the outliers in the batches were inside the loss, as a share."""
    n_outliers = sum(update.kept_outliers for update in updates)
    return n_outliers / max(sum(update.batch_outliers for update in updates), 1)


def share_error(*parts: Updates) -> float:
    """Return the standard error of the difference of the parts' outlier shares.

    As if every row inside the loss were drawn by itself and the shares were equal.
    """
    share = kept_outlier_share([update for part in parts for update in part])
    sizes = [max(sum(update.kept for update in part), 1) for part in parts]
    return math.sqrt(share * (1 - share) * sum(1 / size for size in sizes))


def is_apart(update: Update) -> bool:
    """Whether the outlier risk is above the inlier risk (assumption 1)."""
    return update.outlier_risk > update.inlier_risk


def is_opposed(update: Update) -> bool:
    """Whether the gradients have a negative inner product (assumption 4)."""
    return update.inner_product < 0


def inlier_risk_fell(before: Update, after: Update) -> bool:
    """Whether an update, or several, lowered the inlier risk."""
    return after.inlier_risk < before.inlier_risk


def outlier_risk_rose(before: Update, after: Update) -> bool:
    """Whether an update, or several, raised the outlier risk."""
    return after.outlier_risk > before.outlier_risk


def risks_parted(before: Update, after: Update) -> bool:
    """Whether the inlier risk fell and the outlier risk rose (proposition 2)."""
    return inlier_risk_fell(before, after) and outlier_risk_rose(before, after)
