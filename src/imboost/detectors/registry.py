"""Detectors by name.

A new detector is one file with a subclass of `BaseDetector` and one line in `DETECTORS`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from imboost.detectors.base import BaseDetector
from imboost.detectors.deep.altbi import ALTBI
from imboost.detectors.deep.imboost import IMBoost
from imboost.detectors.deep.odim import ODIM
from imboost.detectors.shallow.trees import Trees
from imboost.detectors.stack.detector import Stack
from imboost.errors import UnknownNameError

DETECTORS: dict[str, Callable[..., BaseDetector]] = {
    "imboost": IMBoost,
    "altbi": ALTBI,
    "odim": ODIM,
    "trees": Trees,
    "stack": Stack,
    "pretrained": partial(Stack, base_learners=("in_context",)),
}


def make_detector(name: str, **settings: Any) -> BaseDetector:
    """Return a new detector of the registry with the given settings.

    Raises
    ------
    UnknownNameError
        If there is no such detector or setting; the message suggests the nearest name.
    """
    if name not in DETECTORS:
        raise UnknownNameError("detector", name, DETECTORS)
    make = DETECTORS[name]
    known = make().get_params()
    for setting in settings.keys() - known.keys():
        raise UnknownNameError(f"setting of {name}", setting, known)
    return make(**settings)
