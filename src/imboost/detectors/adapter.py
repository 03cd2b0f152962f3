"""Unsupervised detectors of PyOD and scikit-learn as detectors of this package."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin, clone

from imboost.arrays import Floats
from imboost.detectors.base import BaseDetector, column_medians, impute
from imboost.detectors.detector import Detector
from imboost.errors import SettingError
from imboost.labels import UNLABELLED, Labels


@dataclass(kw_only=True, eq=False, repr=False)
class AdaptedDetector(BaseDetector):
    """An unsupervised detector of PyOD or scikit-learn.

    `Session` and `TableDetector` adapt such a detector by themselves. A session with it can ask
    and keep answers, but not `refine`: the detector cannot learn from labels. Missing values are
    replaced by the median of their column.

    Parameters
    ----------
    estimator : object
        A detector with `fit` and `decision_function`, which is cloned. The scores of a subclass of
        scikit-learn's `OutlierMixin` are negated; those of others are higher for outliers, as
        PyOD's are.
    contamination, random_state, device, verbose
        As in `IMBoost`. `random_state` has an effect if the estimator has the same parameter, and
        it is None.

    Attributes
    ----------
    estimator_ : object
        The fitted detector.
    decision_, decision_scores_, query_scores_, labels_, threshold_, n_features_in_, \
    feature_names_in_
        As in `IMBoost`; `query_scores_` is `decision_scores_`.

    Examples
    --------
    >>> from sklearn.ensemble import IsolationForest
    >>> from imboost.detectors import AdaptedDetector
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> detector = AdaptedDetector(estimator=IsolationForest(random_state=0)).fit(rows)
    >>> int(detector.decision_scores_.argmax())
    0
    """

    allow_nan = True
    refine_depends_on_history = False

    estimator: Any

    @property
    def model_name(self) -> str:
        """Name of the model in score files and responses: that of the estimator."""
        return type(self.estimator).__name__

    def _check_settings(self) -> None:
        super()._check_settings()
        estimator, name = self.estimator, self.model_name
        if not (hasattr(estimator, "fit") and hasattr(estimator, "decision_function")):
            hint = ": give novelty=True" if hasattr(estimator, "novelty") else ""
            raise SettingError(
                f"{name} is not a detector that scores new rows with decision_function{hint}."
            )
        labels = signature(estimator.fit).parameters.get("y")
        if labels is not None and labels.default is Parameter.empty:
            raise SettingError(f"{name} cannot be fitted without labels: use stack or imboost.")

    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        self._refuse_labels(labels)
        self._medians = column_medians(X)
        self.estimator_ = clone(self.estimator)
        settings = self.estimator_.get_params(deep=False)
        if self.random_state is not None and settings.get("random_state", 0) is None:
            self.estimator_.set_params(random_state=self._seed)
        self.estimator_.fit(impute(X, self._medians))

    def _refine(self, X: NDArray[Any], labels: Labels) -> None:
        self._refuse_labels(labels)

    def _refuse_labels(self, labels: Labels) -> None:
        if (labels != UNLABELLED).any():
            raise SettingError(
                f"{self.model_name} cannot learn from labels: fit it without them, or use stack "
                "or imboost."
            )

    def _score_rows(self, X: NDArray[Any]) -> Floats:
        scores = self.estimator_.decision_function(impute(X, self._medians))
        sign = -1.0 if isinstance(self.estimator_, OutlierMixin) else 1.0
        return sign * np.asarray(scores, dtype=np.float64).ravel()

    def _score_training_rows(self, X: NDArray[Any]) -> Floats:
        # PyOD's detectors of neighbours leave out the distance of a training row to itself.
        known = getattr(self.estimator_, "decision_scores_", None)
        return self._score_rows(X) if known is None else np.asarray(known, dtype=np.float64)


def as_detector(detector: Any) -> Any:
    """Return a detector of this package as it is, and one of PyOD or scikit-learn adapted.

    >>> from sklearn.ensemble import IsolationForest
    >>> as_detector(IsolationForest()).model_name
    'IsolationForest'
    """
    return detector if isinstance(detector, Detector) else AdaptedDetector(estimator=detector)
