"""Detectors: estimators that score rows. Importable with torch, numpy and scikit-learn alone.

A further detector is one new file with a subclass of `BaseDetector` and one line in
`DETECTORS`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from imboost.detectors.base import BaseDetector
from imboost.detectors.deep.altbi import ALTBI
from imboost.detectors.deep.deep_sad import DeepSAD
from imboost.detectors.deep.deep_svdd import DeepSVDD
from imboost.detectors.deep.imboost import IMBoost
from imboost.detectors.deep.odim import ODIM
from imboost.detectors.shallow.aad import AAD
from imboost.detectors.shallow.pine import Pine
from imboost.detectors.shallow.trees import Trees
from imboost.detectors.shallow.xgbod import XGBOD
from imboost.detectors.stack.detector import Stack
from imboost.errors import UnknownNameError

DETECTORS: dict[str, Callable[..., BaseDetector]] = {
    "imboost": IMBoost,
    "altbi": ALTBI,
    "odim": ODIM,
    # One-class training alone collapses at the rate that suits the others.
    "oc": partial(DeepSVDD, objective="oc", learning_rate=1e-4),
    "sb": partial(DeepSVDD, objective="sb"),
    "oc-nce": partial(DeepSVDD, objective="oc-nce"),
    "sb-nce": partial(DeepSVDD, objective="sb-nce"),
    "dsad": DeepSAD,
    "xgbod": XGBOD,
    "aad": AAD,
    "pine": Pine,
    "trees": Trees,
    "stack": Stack,
}


def make_detector(name: str, **settings: Any) -> BaseDetector:
    """Return a new detector called `name`, or raise and suggest a near name."""
    if name not in DETECTORS:
        raise UnknownNameError("detector", name, DETECTORS)
    make = DETECTORS[name]
    if settings:
        known = make().get_params()
        for setting in settings.keys() - known.keys():
            raise UnknownNameError(f"setting of {name}", setting, known)
    return make(**settings)


__all__ = [
    "AAD",
    "ALTBI",
    "DETECTORS",
    "ODIM",
    "XGBOD",
    "BaseDetector",
    "DeepSAD",
    "DeepSVDD",
    "IMBoost",
    "Pine",
    "Stack",
    "Trees",
    "make_detector",
]
