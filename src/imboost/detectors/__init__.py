"""Outlier detectors. Importable with torch, numpy and scikit-learn alone."""

from imboost.detectors.adapter import AdaptedDetector, as_detector
from imboost.detectors.base import BaseDetector
from imboost.detectors.deep.altbi import ALTBI
from imboost.detectors.deep.imboost import IMBoost
from imboost.detectors.deep.odim import ODIM
from imboost.detectors.detector import Detector
from imboost.detectors.distilled import Distilled
from imboost.detectors.registry import DETECTORS, make_detector
from imboost.detectors.shallow.trees import Trees
from imboost.detectors.stack.detector import Stack

__all__ = [
    "ALTBI",
    "DETECTORS",
    "ODIM",
    "AdaptedDetector",
    "BaseDetector",
    "Detector",
    "Distilled",
    "IMBoost",
    "Stack",
    "Trees",
    "as_detector",
    "make_detector",
]
