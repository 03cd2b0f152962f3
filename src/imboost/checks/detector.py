"""The contract of a detector: PyOD's way of use, and scores that repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from imboost.checks.promise import promise

CONTAMINATION = 0.1


def check_detector(detector: Any, *, exact: bool = True) -> None:
    """Raise unless a detector keeps the package's contract.

    Parameters
    ----------
    detector : estimator
        Not fitted; cloned for every check. It should be quick to train, and have a
        `random_state` if it uses random numbers.
    exact : bool
        Whether scores must repeat to the last digit in other batches and orders of rows,
        which not every library promises, or only closely.
    """
    X, X_new, y = _tables()
    fitted = clone(detector).set_params(contamination=CONTAMINATION).fit(X)
    _check_attributes(fitted, X)
    _check_predictions(fitted, X_new)
    _check_repeatable(detector, fitted, X, X_new, exact=exact)
    if hasattr(fitted, "refine"):
        _check_refine(clone(detector), X, X_new, y)


def _tables() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int8]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    X[:8] += 5.0
    y = np.full(150, -1, dtype=np.int8)
    y[:3], y[50:60] = 1, 0
    return X, rng.normal(size=(40, 4)), y


def _check_attributes(fitted: Any, X: NDArray[np.float64]) -> None:
    scores, labels = fitted.decision_scores_, fitted.labels_
    promise(scores.shape == (len(X),), "decision_scores_ must hold one score per row")
    promise(np.isfinite(scores).all(), "decision_scores_ must be finite")
    promise(labels.shape == (len(X),), "labels_ must hold one label per row")
    promise(set(np.unique(labels)) <= {0, 1}, "labels_ must be 0 or 1")
    promise(np.isscalar(fitted.threshold_), "threshold_ must be a number")
    promise(
        np.array_equal(labels, (scores > fitted.threshold_).astype(int)),
        "labels_ must be 1 exactly where the score is above threshold_",
    )
    promise(
        labels.sum() == round(CONTAMINATION * len(X)),
        "contamination must set the number of training rows called outliers",
    )
    promise(scores[:8].mean() > scores[8:].mean(), "planted outliers must score higher")


def _check_predictions(fitted: Any, X_new: NDArray[np.float64]) -> None:
    scores = fitted.decision_function(X_new)
    promise(scores.shape == (len(X_new),), "decision_function must give one score per row")
    predicted = fitted.predict(X_new)
    promise(
        np.array_equal(predicted, (scores > fitted.threshold_).astype(int)),
        "predict must be 1 exactly where the score is above threshold_",
    )
    proba = fitted.predict_proba(X_new)
    promise(proba.shape == (len(X_new), 2), "predict_proba must have two columns")
    promise(((proba >= 0) & (proba <= 1)).all(), "predict_proba must lie in [0, 1]")
    promise(np.allclose(proba.sum(axis=1), 1), "predict_proba must sum to 1")
    order = np.argsort(scores, kind="stable")
    promise((np.diff(proba[order, 1]) >= -1e-12).all(), "proba must not fall as scores rise")


def _check_repeatable(
    detector: Any,
    fitted: Any,
    X: NDArray[np.float64],
    X_new: NDArray[np.float64],
    *,
    exact: bool,
) -> None:
    def same(a: NDArray[Any], b: NDArray[Any]) -> bool:
        return np.array_equal(a, b) if exact else np.allclose(a, b)

    scores = fitted.decision_function(X_new)
    promise(
        same(fitted.decision_scores_, fitted.decision_function(X)),
        "training rows must score the same when given again",
    )
    again = clone(detector).set_params(contamination=CONTAMINATION).fit(X)
    promise(same(scores, again.decision_function(X_new)), "same seed, other scores")
    order = np.random.default_rng(1).permutation(len(X_new))
    promise(
        same(scores[order], fitted.decision_function(X_new[order])),
        "scores must not depend on the order of rows",
    )
    for size in (1, 7, len(X_new)):
        parts = [
            fitted.decision_function(X_new[start : start + size])
            for start in range(0, len(X_new), size)
        ]
        promise(same(scores, np.concatenate(parts)), f"scores differ in batches of {size}")


def _check_refine(
    detector: Any, X: NDArray[np.float64], X_new: NDArray[np.float64], y: NDArray[np.int8]
) -> None:
    detector.fit(X)
    promise(detector.query_scores_.shape == (len(X),), "query_scores_: one score per row")
    promise(detector.refine(X, y) is detector, "refine must return the detector")
    other = clone(detector).fit(X).refine(X, y)
    promise(
        np.array_equal(detector.decision_function(X_new), other.decision_function(X_new)),
        "the same labels refined in the same way must give the same scores",
    )
