"""Active outlier detection: find the wrong rows of a table with few questions.

The names below are loaded on first use, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from imboost.detectors import ALTBI, ODIM, IMBoost, Stack
    from imboost.detectors.table_detector import TableDetector
    from imboost.session import Answer, MemoryLog, Oracle, Session

_HOMES = {
    "ALTBI": "imboost.detectors",
    "IMBoost": "imboost.detectors",
    "ODIM": "imboost.detectors",
    "Stack": "imboost.detectors",
    "TableDetector": "imboost.detectors.table_detector",
    "Answer": "imboost.session",
    "MemoryLog": "imboost.session",
    "Oracle": "imboost.session",
    "Session": "imboost.session",
}

__all__ = [
    "ALTBI",
    "ODIM",
    "Answer",
    "IMBoost",
    "MemoryLog",
    "Oracle",
    "Session",
    "Stack",
    "TableDetector",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'imboost' has no attribute {name!r}")
