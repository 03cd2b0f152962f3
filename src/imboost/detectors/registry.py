"""Detectors by name: those of this package, and those of other installed packages.

A new detector is one file with a subclass of `BaseDetector` and one line in `DETECTORS`. Another
package names its detectors in the group `imboost.detectors` of its entry points: classes or
functions that return a detector of this package, of PyOD or of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from imboost.detectors.adapter import AdaptedDetector, as_detector
from imboost.detectors.base import BaseDetector
from imboost.detectors.shallow import Trees
from imboost.detectors.stack.detector import Stack
from imboost.errors import UnknownNameError

GROUP = "imboost.detectors"


def _make(path: str, **settings: Any) -> BaseDetector:
    """Import a class or function, written MODULE:NAME, and return the detector that it makes."""
    made: BaseDetector = as_detector(EntryPoint("", path, GROUP).load()(**settings))
    return made


DETECTORS: dict[str, Callable[..., BaseDetector]] = {
    "imboost": partial(_make, "imboost.detectors.deep.imboost:IMBoost"),  # torch takes seconds
    "altbi": partial(_make, "imboost.detectors.deep.altbi:ALTBI"),
    "odim": partial(_make, "imboost.detectors.deep.odim:ODIM"),
    "trees": Trees,
    "stack": Stack,
    "pretrained": partial(Stack, base_learners=("in_context",)),
}
"""The detectors of this package."""


def known_detectors() -> dict[str, Callable[..., BaseDetector]]:
    """Return all detectors; those of entry points never replace one of this package."""
    others = {entry.name: partial(_make, entry.value) for entry in entry_points(group=GROUP)}
    return others | DETECTORS


def make_detector(name: str, **settings: Any) -> BaseDetector:
    """Return a new detector with the given settings.

    Raises
    ------
    UnknownNameError
        If there is no such detector or setting; the message suggests the nearest name.
    """
    make = DETECTORS.get(name) or known_detectors().get(name)
    if make is None:
        raise UnknownNameError("detector", name, known_detectors())
    made = make()
    known = (made.estimator if isinstance(made, AdaptedDetector) else made).get_params()
    for setting in settings.keys() - known.keys():
        raise UnknownNameError(f"setting of {name}", setting, known)
    return make(**settings)
