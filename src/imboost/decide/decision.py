"""The decision about a table: probabilities and a threshold for the scores of a detector."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from imboost.arrays import Floats, Indices, Mask
from imboost.decide.calibration import Calibration
from imboost.decide.estimates import Outcome, estimate_outcome
from imboost.decide.threshold import (
    AUTO,
    base_rate_shift,
    threshold_by_clusters,
    threshold_by_contamination,
    threshold_by_precision,
    threshold_by_probability,
)
from imboost.errors import SettingError
from imboost.labels import UNLABELLED, Labels, has_both_classes
from imboost.stats.log_odds import logit, rank_log_odds
from imboost.validation import check_number


@dataclass(frozen=True, eq=False)
class Decision:
    """Probabilities and threshold of a trained detector, chosen on its training rows.

    >>> scores = np.arange(100.0)
    >>> labels = np.r_[np.zeros(3), np.full(96, -1), 1].astype(np.int8)
    >>> decision = Decision.make(scores, labels)
    >>> decision.probability(scores[[0, 99]]).round(2).tolist()
    [0.0, 0.66]
    >>> int(decision.with_threshold(contamination=0.05).predictions.sum())
    5
    """

    scores: Floats  # of the training rows
    labels: Labels  # of the training rows: 0, 1 or -1
    calibration: Calibration  # maps log-odds of scores to probabilities
    threshold: float  # rows with a score above it are predicted outliers
    is_estimated: bool  # whether the threshold is a guess, without labels of both classes
    out_of_fold_proba: Floats
    """Probability of each labelled row by models that were not fitted on its label; nan for other
    rows, and for all rows of detectors without out-of-fold scores."""
    are_probabilities: bool = (
        False  # whether scores are; otherwise only their ranks have a meaning
    )
    base_rate_shift: float = 0.0  # of log-odds, without labels; see `decide.threshold`
    weights: Floats | None = None
    """If the rows are a sample of a larger table, how many of its rows each of them stands for."""

    @classmethod
    def make(
        cls,
        scores: Floats,
        labels: Labels,
        *,
        contamination: float | str = AUTO,
        is_audit: Mask | None = None,
        weights: Floats | None = None,
        out_of_fold: Floats | None = None,
        are_probabilities: bool = False,
        has_base_rate: bool = False,
        seed: int = 0,
    ) -> Self:
        """Calibrate probabilities on the labels and choose the threshold.

        Parameters
        ----------
        contamination : float or "auto"
            Share of the rows, or of the table they are a sample of, above the threshold. With
            "auto" and labels of both classes, rows with a probability of at least 0.5 are
            predicted outliers; otherwise the share is estimated from two clusters of scores.
        is_audit : array of bool of shape (n_rows,), optional
            Labelled rows that were drawn at random instead of selected; none by default.
        out_of_fold : array of shape (n_labelled,), optional
            Scores of the labelled rows by models that were not fitted on their labels.
        has_base_rate : bool
            Whether scores without labels are probabilities that rest on `ASSUMED_CONTAMINATION`,
            so that nothing needs to be estimated.
        seed : int
            Seed of the mixture of scores.
        """
        known = labels != UNLABELLED
        audit = np.zeros(len(labels), dtype=bool) if is_audit is None else is_audit
        proba = np.full(len(labels), np.nan)
        log_odds = _log_odds(scores, scores, are_probabilities)
        labelled = log_odds[known]
        if out_of_fold is not None:
            labelled = _log_odds(out_of_fold, scores, are_probabilities)
        calibration = Calibration.fit(
            labelled, labels[known], audit[known], out_of_fold=out_of_fold is not None
        )
        if out_of_fold is not None:
            proba[known] = calibration.probability(labelled, selected=True)
        shift = 0.0
        if not (has_base_rate or known.any()):
            shift = base_rate_shift(log_odds, weights)
        is_estimated = contamination == AUTO and not has_both_classes(labels)
        if contamination != AUTO:
            threshold = threshold_by_contamination(scores, float(contamination), weights)
        elif has_base_rate or not is_estimated:
            threshold = threshold_by_probability(scores, calibration.probability(log_odds))
        else:
            clustered = log_odds if are_probabilities else scores
            threshold = threshold_by_clusters(scores, clustered, labels, seed, weights)
        return cls(
            scores,
            labels,
            calibration,
            threshold,
            is_estimated,
            proba,
            are_probabilities,
            shift,
            weights,
        )

    @property
    def predictions(self) -> Indices:
        """0 or 1 for every training row: whether its score is above the threshold."""
        return (self.scores > self.threshold).astype(np.int64)

    def log_odds(self, scores: Floats) -> Floats:
        """Return scores as log-odds of being an outlier, before calibration."""
        return _log_odds(scores, self.scores, self.are_probabilities)

    def probability(self, scores: Floats) -> Floats:
        """Return the calibrated outlier probability of rows with these scores."""
        return self.calibration.probability(self.log_odds(scores), shift=self.base_rate_shift)

    def with_threshold(
        self,
        *,
        score: float | None = None,
        contamination: float | None = None,
        precision: float | None = None,
    ) -> Self:
        """Return the decision with another threshold.

        Either the threshold itself, or the share of the training rows (or of the table they are a
        sample of) above it, or the expected share of outliers among these; the lowest threshold
        that reaches this precision is chosen.
        """
        if [score, contamination, precision].count(None) != 2:
            raise SettingError("set_threshold takes one of score, contamination and precision.")
        if contamination is not None:
            check_number("contamination", contamination, above=0.0, maximum=1.0)
            score = threshold_by_contamination(self.scores, contamination, self.weights)
        elif precision is not None:
            check_number("precision", precision, above=0.0, maximum=1.0)
            score, reached = threshold_by_precision(
                self.scores, self.probability(self.scores), self.labels, precision, self.weights
            )
            if reached < precision:
                raise SettingError(
                    f"No threshold has an expected precision of {precision:g}; the highest is "
                    f"{reached:.2g}. Ask for less, or label more rows."
                )
        check_number("score", score)
        return replace(self, threshold=float(score), is_estimated=False)  # type: ignore[arg-type]

    def outcome(self) -> Outcome:
        """Estimate precision and recall of the predictions."""
        return estimate_outcome(
            self.scores,
            self.log_odds(self.scores),
            self.labels,
            self.threshold,
            self.calibration,
            self.weights,
        )


def _log_odds(scores: Floats, training_scores: Floats, are_probabilities: bool) -> Floats:
    return logit(scores) if are_probabilities else rank_log_odds(scores, training_scores)
