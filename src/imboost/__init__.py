"""Active outlier detection: find the outliers in a table with few labels.

The names below are loaded on first use, so that importing the package is quick.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from imboost.detectors import (
        ALTBI,
        ODIM,
        Detector,
        IMBoost,
        Stack,
        Trees,
        make_detector,
    )
    from imboost.detectors.table_detector import TableDetector
    from imboost.persistence import load, save
    from imboost.session import Answer, MemoryLog, Oracle, Session

_DETECTORS = "imboost.detectors"
_MODULES = {
    "ALTBI": _DETECTORS,
    "Detector": _DETECTORS,
    "IMBoost": _DETECTORS,
    "ODIM": _DETECTORS,
    "Stack": _DETECTORS,
    "Trees": _DETECTORS,
    "make_detector": _DETECTORS,
    "TableDetector": "imboost.detectors.table_detector",
    "load": "imboost.persistence",
    "save": "imboost.persistence",
    "Answer": "imboost.session",
    "MemoryLog": "imboost.session",
    "Oracle": "imboost.session",
    "Session": "imboost.session",
}

__all__ = [
    "ALTBI",
    "ODIM",
    "Answer",
    "Detector",
    "IMBoost",
    "MemoryLog",
    "Oracle",
    "Session",
    "Stack",
    "TableDetector",
    "Trees",
    "__version__",
    "load",
    "make_detector",
    "save",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("imboost")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'imboost' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
