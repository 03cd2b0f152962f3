"""Detectors as settings that a session store can keep, and back."""

from __future__ import annotations

from typing import Any

from imboost.detectors.base import BaseDetector
from imboost.detectors.detector import Detector
from imboost.detectors.registry import DETECTORS, make_detector
from imboost.detectors.table_detector import TableDetector
from imboost.errors import SessionError

Settings = dict[str, Any]

TABLE = "table"  # the name of a TableDetector, beside those of the registry
NOT_STORED = ("random_state",)  # the seed is in the log


def describe_detector(detector: Detector) -> Settings:
    """Return the name and the settings of a detector that differ from the defaults.

    A detector that is not one of the package, or has settings that are not plain values, has
    only a "class": it has to be given again.

    >>> from imboost import Stack, TableDetector
    >>> describe_detector(Stack(n_trees=50, random_state=1))
    {'name': 'stack', 'settings': {'n_trees': 50}}
    >>> describe_detector(TableDetector(roles={"code": "text"}))["settings"]
    {'roles': {'code': 'text'}}
    """
    given = detector.get_params(deep=False)
    made: dict[str, Detector] = {name: make() for name, make in DETECTORS.items()}
    made[TABLE] = TableDetector()
    found = [
        {"name": name, "settings": differing}
        for name, default in made.items()
        if type(default) is type(detector)
        and _are_plain(differing := _differences(given, default.get_params(deep=False)))
    ]
    if not found:
        return {"class": type(detector).__name__}
    return min(found, key=lambda one: len(one["settings"]))


def build_detector(description: Settings) -> Detector:
    """Return a new detector by what `describe_detector` returned."""
    if "class" in description:
        raise SessionError(
            f"The session was started with a {description['class']} that cannot be stored: give "
            "the same detector again."
        )
    name, settings = description["name"], dict(description["settings"])
    if name == TABLE:
        inner = settings.get("detector")
        if isinstance(inner, dict):
            settings["detector"] = build_detector(inner)
        return TableDetector(**settings)
    defaults = DETECTORS[name]().get_params()
    return make_detector(
        name,
        **{
            key: tuple(value) if isinstance(defaults.get(key), tuple) else value
            for key, value in settings.items()
        },
    )


def _differences(given: Settings, defaults: Settings) -> Settings:
    """Return the settings that differ from the defaults, in the form in which JSON keeps them."""
    return {
        key: _to_json(value)
        for key, value in given.items()
        if key not in NOT_STORED and value != defaults[key]
    }


def _to_json(value: Any) -> Any:
    if isinstance(value, BaseDetector):
        return describe_detector(value)
    if isinstance(value, dict):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _are_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return "class" not in value and all(map(_are_plain, value.values()))
    if isinstance(value, list):
        return all(map(_are_plain, value))
    return value is None or isinstance(value, str | int | float | bool)
