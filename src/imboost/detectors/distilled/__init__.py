"""Distillation of a detector into a small network for production."""

from imboost.detectors.distilled.agreement import Agreement
from imboost.detectors.distilled.detector import Distilled
from imboost.detectors.distilled.distillation import distill

__all__ = ["Agreement", "Distilled", "distill"]
