"""Decisions: threshold, probabilities, estimated precision and recall, and when to stop."""

from imboost.decide.calibration import Calibration
from imboost.decide.estimates import Estimate, Outcome, estimate_outcome
from imboost.decide.stopping import Advice, advise
from imboost.decide.threshold import (
    choose_threshold,
    contamination_without_outliers,
    estimate_contamination,
    threshold_by_contamination,
    threshold_by_precision,
    threshold_by_probability,
)

__all__ = [
    "Advice",
    "Calibration",
    "Estimate",
    "Outcome",
    "advise",
    "choose_threshold",
    "contamination_without_outliers",
    "estimate_contamination",
    "estimate_outcome",
    "threshold_by_contamination",
    "threshold_by_precision",
    "threshold_by_probability",
]
