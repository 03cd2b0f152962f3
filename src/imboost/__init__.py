"""Active outlier detection: find the outliers in a table with few labels.

The names below are loaded on first use, so that importing the package is quick.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from imboost.detectors import ALTBI, ODIM, Detector, IMBoost, Stack, Trees, make_detector
    from imboost.detectors.table_detector import TableDetector
    from imboost.persistence import load, save
    from imboost.session import Answer, MemoryLog, Oracle, Session

_NAMES = {
    "imboost.detectors": "ALTBI Detector IMBoost ODIM Stack Trees make_detector",
    "imboost.detectors.table_detector": "TableDetector",
    "imboost.persistence": "load save",
    "imboost.session": "Answer MemoryLog Oracle Session",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

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
