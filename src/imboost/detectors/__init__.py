"""Detectors: estimators that score rows. Importable with torch, numpy and scikit-learn alone.

A further detector is one new file with a subclass of `BaseDetector` and one line in
`DETECTORS`.
"""

from imboost.detectors.altbi import ALTBI
from imboost.detectors.base import BaseDetector
from imboost.detectors.imboost import IMBoost
from imboost.detectors.odim import ODIM
from imboost.errors import UnknownNameError

DETECTORS: dict[str, type[BaseDetector]] = {
    "imboost": IMBoost,
    "altbi": ALTBI,
    "odim": ODIM,
}


def find_detector(name: str) -> type[BaseDetector]:
    """Return the detector class called `name`, or raise and suggest a near name."""
    if name not in DETECTORS:
        raise UnknownNameError("detector", name, DETECTORS)
    return DETECTORS[name]


__all__ = [
    "ALTBI",
    "DETECTORS",
    "ODIM",
    "BaseDetector",
    "IMBoost",
    "find_detector",
]
