"""Contract checks to run on your own detector or query strategy.

Like scikit-learn's estimator checks, they raise an AssertionError that names the violated rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from imboost.arrays import Floats, Indices

__all__ = ["check_detector", "check_query_strategy"]

CONTAMINATION = 0.1


def check_detector(detector: Any, *, exact: bool = True) -> None:
    """Check that a detector keeps the package's contract.

    Parameters
    ----------
    detector : estimator
        Not fitted; cloned for every check. It should be quick to train, and have a
        `random_state` if it uses random numbers.
    exact : bool
        Whether scores must not depend on batches and row order at all, or only approximately.
    """
    rng = np.random.default_rng(0)
    X, X_new, y = rng.normal(size=(150, 4)), rng.normal(size=(40, 4)), np.full(150, -1, np.int8)
    X[:8] += 5.0
    y[:3], y[50:60] = 1, 0
    fitted = clone(detector).set_params(contamination=CONTAMINATION).fit(X)
    _check_attributes(fitted, X)
    _check_predictions(fitted, X_new)
    _check_reproducible(detector, fitted, X, X_new, exact=exact)
    if hasattr(fitted, "refine"):
        _check_refine(clone(detector), X, X_new, y)


def _check_attributes(fitted: Any, X: Floats) -> None:
    scores, labels = fitted.decision_scores_, fitted.labels_
    assert scores.shape == (len(X),), "decision_scores_ must hold one score per row"
    assert np.isfinite(scores).all(), "decision_scores_ must be finite"
    assert labels.shape == (len(X),), "labels_ must hold one label per row"
    assert set(np.unique(labels)) <= {0, 1}, "labels_ must be 0 or 1"
    assert np.isscalar(fitted.threshold_), "threshold_ must be a number"
    assert np.array_equal(labels, scores > fitted.threshold_), (
        "labels_ must be 1 exactly where the score is above threshold_"
    )
    assert labels.sum() == round(CONTAMINATION * len(X)), (
        "contamination must be the share of training rows predicted outliers"
    )
    assert scores[:8].mean() > scores[8:].mean(), "planted outliers must score higher"


def _check_predictions(fitted: Any, X_new: Floats) -> None:
    scores = fitted.decision_function(X_new)
    assert scores.shape == (len(X_new),), "decision_function must return one score per row"
    assert np.array_equal(fitted.predict(X_new), scores > fitted.threshold_), (
        "predict must be 1 exactly where the score is above threshold_"
    )
    proba = fitted.predict_proba(X_new)
    assert proba.shape == (len(X_new), 2), "predict_proba must have two columns"
    assert ((proba >= 0) & (proba <= 1)).all(), "predict_proba must lie in [0, 1]"
    assert np.allclose(proba.sum(axis=1), 1), "predict_proba must sum to 1"
    order = np.argsort(scores, kind="stable")
    assert (np.diff(proba[order, 1]) >= -1e-12).all(), "proba must not decrease with the score"


def _check_reproducible(
    detector: Any, fitted: Any, X: Floats, X_new: Floats, *, exact: bool
) -> None:
    same = np.array_equal if exact else np.allclose
    scores = fitted.decision_function(X_new)
    assert same(fitted.decision_scores_, fitted.decision_function(X)), (
        "decision_function must return decision_scores_ for the training rows"
    )
    again = clone(detector).set_params(contamination=CONTAMINATION).fit(X)
    assert same(scores, again.decision_function(X_new)), "same seed, different scores"
    order = np.random.default_rng(1).permutation(len(X_new))
    assert same(scores[order], fitted.decision_function(X_new[order])), (
        "scores must not depend on the order of rows"
    )
    for size in (1, 7, len(X_new)):
        batches = [X_new[start : start + size] for start in range(0, len(X_new), size)]
        assert same(scores, np.concatenate([fitted.decision_function(b) for b in batches])), (
            f"scores differ in batches of {size}"
        )


def _check_refine(detector: Any, X: Floats, X_new: Floats, y: NDArray[np.int8]) -> None:
    detector.fit(X)
    assert detector.query_scores_.shape == (len(X),), "query_scores_ must hold one score per row"
    assert detector.refine(X, y) is detector, "refine must return the detector"
    other = clone(detector).fit(X).refine(X, y)
    assert np.array_equal(detector.decision_function(X_new), other.decision_function(X_new)), (
        "refining with the same labels must give the same scores"
    )
    fitted = clone(detector).fit(X)
    before, training_before = fitted.decision_function(X_new), fitted.decision_scores_.copy()
    copied = fitted.copy()
    if not copied.refine_depends_on_history:
        copied.refine(X, np.where(y == 1, 0, y))  # labels that must leave no trace
    copied.refine(X, y)
    assert np.array_equal(copied.decision_function(X_new), detector.decision_function(X_new)), (
        "refining a copy must give the scores of refining the detector"
    )
    assert np.array_equal(fitted.decision_function(X_new), before), (
        "refining a copy must leave the detector unchanged"
    )
    assert np.array_equal(fitted.decision_scores_, training_before), (
        "refining a copy must leave decision_scores_ unchanged"
    )


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
                case = f"scores: {name}, n={n}"
                before = scores.copy()
                selected, again = (_select(make(), scores, candidates, n) for _ in range(2))
                assert np.issubdtype(selected.dtype, np.integer), f"{case}: rows must be integers"
                assert len(selected) == min(n, len(candidates)), f"{case}: wrong number of rows"
                assert len(np.unique(selected)) == len(selected), f"{case}: a row twice"
                assert np.isin(selected, candidates).all(), f"{case}: a row is not a candidate"
                assert np.array_equal(selected, again), f"{case}: same seed, different rows"
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
