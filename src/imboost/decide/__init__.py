"""Decisions: probabilities, threshold, estimated precision and recall, and when to stop."""

from imboost.decide.calibration import Calibration
from imboost.decide.decision import Decision
from imboost.decide.estimates import Estimate, Outcome, estimate_outcome

__all__ = ["Calibration", "Decision", "Estimate", "Outcome", "estimate_outcome"]
