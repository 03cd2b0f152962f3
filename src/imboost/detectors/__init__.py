"""Outlier detectors. Importable with torch, numpy and scikit-learn alone."""

from imboost.detectors.adapter import AdaptedDetector, as_detector
from imboost.detectors.base import BaseDetector
from imboost.detectors.deep.altbi import ALTBI
from imboost.detectors.deep.deep_sad import DeepSAD
from imboost.detectors.deep.deep_svdd import DeepSVDD
from imboost.detectors.deep.imboost import IMBoost
from imboost.detectors.deep.odim import ODIM
from imboost.detectors.detector import Detector
from imboost.detectors.distilled import Distilled
from imboost.detectors.registry import DETECTORS, make_detector
from imboost.detectors.shallow.coniferest_forests import AAD, Pine
from imboost.detectors.shallow.trees import Trees
from imboost.detectors.shallow.xgbod import XGBOD
from imboost.detectors.stack.detector import Stack

__all__ = [
    "AAD",
    "ALTBI",
    "DETECTORS",
    "ODIM",
    "XGBOD",
    "AdaptedDetector",
    "BaseDetector",
    "DeepSAD",
    "DeepSVDD",
    "Detector",
    "Distilled",
    "IMBoost",
    "Pine",
    "Stack",
    "Trees",
    "as_detector",
    "make_detector",
]
