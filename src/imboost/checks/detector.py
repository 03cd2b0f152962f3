"""Contract checks of a detector: PyOD's interface, and reproducible scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from imboost.arrays import Floats

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
    X, X_new, y = _example()
    fitted = clone(detector).set_params(contamination=CONTAMINATION).fit(X)
    _check_attributes(fitted, X)
    _check_predictions(fitted, X_new)
    _check_reproducible(detector, fitted, X, X_new, exact=exact)
    if hasattr(fitted, "refine"):
        _check_refine(clone(detector), X, X_new, y)


def _example() -> tuple[Floats, Floats, NDArray[np.int8]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    X[:8] += 5.0
    y = np.full(150, -1, dtype=np.int8)
    y[:3], y[50:60] = 1, 0
    return X, rng.normal(size=(40, 4)), y


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
        "contamination must be the fraction of training rows predicted outliers"
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
    _check_copy(clone(detector).fit(X), detector, X, X_new, y)


def _check_copy(fitted: Any, refined: Any, X: Floats, X_new: Floats, y: NDArray[np.int8]) -> None:
    before, training_before = fitted.decision_function(X_new), fitted.decision_scores_.copy()
    copied = fitted.copy()
    if not copied.refine_depends_on_history:
        copied.refine(X, np.where(y == 1, 0, y))  # labels that must leave no trace
    copied.refine(X, y)
    assert np.array_equal(copied.decision_function(X_new), refined.decision_function(X_new)), (
        "refining a copy must give the scores of refining the detector"
    )
    assert np.array_equal(fitted.decision_function(X_new), before), (
        "refining a copy must leave the detector unchanged"
    )
    assert np.array_equal(fitted.decision_scores_, training_before), (
        "refining a copy must leave decision_scores_ unchanged"
    )
