"""Distillation of a detector into a small network for production."""

from imboost.detectors.distilled.detector import Distilled, TeacherAgreement
from imboost.detectors.distilled.distillation import distill

__all__ = ["Distilled", "TeacherAgreement", "distill"]
