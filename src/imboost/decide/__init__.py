"""From scores to decisions: thresholds, probabilities, what they are worth and when to stop.

Everything here works on scores, labels and log-odds alone, and knows no detector.
"""

from imboost.decide.calibration import Calibration
from imboost.decide.estimates import Estimate, Outcome, estimate_outcome
from imboost.decide.stopping import Advice, advise
from imboost.decide.threshold import (
    share_by_mixture,
    share_without_outliers,
    threshold_by_precision,
    threshold_by_probability,
    threshold_by_share,
)

__all__ = [
    "Advice",
    "Calibration",
    "Estimate",
    "Outcome",
    "advise",
    "estimate_outcome",
    "share_by_mixture",
    "share_without_outliers",
    "threshold_by_precision",
    "threshold_by_probability",
    "threshold_by_share",
]
