"""Decisions: threshold, probabilities, estimated precision and recall, and when to stop."""

from imboost.decide.calibration import Calibration
from imboost.decide.estimates import Estimate, Outcome, estimate_outcome
from imboost.decide.stopping import Advice, advise

__all__ = ["Advice", "Calibration", "Estimate", "Outcome", "advise", "estimate_outcome"]
