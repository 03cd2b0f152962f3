"""Outlier detectors. Importable with numpy and scikit-learn alone; deep detectors need torch."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from imboost.detectors.adapter import AdaptedDetector, as_detector
from imboost.detectors.base import BaseDetector
from imboost.detectors.detector import Detector
from imboost.detectors.distilled import Distilled
from imboost.detectors.registry import DETECTORS, make_detector
from imboost.detectors.shallow import Trees
from imboost.detectors.stack.detector import Stack

if TYPE_CHECKING:
    from imboost.detectors.deep.altbi import ALTBI
    from imboost.detectors.deep.imboost import IMBoost
    from imboost.detectors.deep.odim import ODIM

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


def __getattr__(name: str) -> Any:
    if name in ("ALTBI", "IMBoost", "ODIM"):  # importing torch takes seconds
        return getattr(import_module(f"imboost.detectors.deep.{name.lower()}"), name)
    raise AttributeError(f"module 'imboost.detectors' has no attribute {name!r}")
