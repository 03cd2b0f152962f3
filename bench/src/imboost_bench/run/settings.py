"""Settings of a run that differ from the defaults of its detector and strategy."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from imboost.errors import SettingError

QUERY_PREFIX = "query__"  # of settings of the query strategy, as of a nested estimator

Value = int | float | bool | str | tuple[int | float, ...] | None
Values = dict[str, Value]


class Settings(NamedTuple):
    """Keyword arguments of the detector and of the query strategy."""

    detector: Values
    query: Values


def join_settings(texts: Iterable[str]) -> str:
    """Join settings such as "n_trees=50", sorted by name; the last value of a name counts.

    >>> join_settings(["query__alpha = 0.3", "inlier_weight=0"])
    'inlier_weight=0;query__alpha=0.3'
    """
    values = dict(map(_split, texts))
    return ";".join(f"{name}={_parse(values[name])}" for name in sorted(values))


def read_settings(text: str) -> Values:
    """Return the values of joined settings by name.

    >>> read_settings("learners=('trees', 'ranks');n_trees=50")
    {'learners': ('trees', 'ranks'), 'n_trees': 50}
    """
    pairs = map(_split, text.split(";") if text else ())
    return {name: _parse(value) for name, value in pairs}


def split_settings(text: str) -> Settings:
    """Divide joined settings between detector and query strategy.

    >>> split_settings("inlier_weight=0;query__alpha=0.3")
    Settings(detector={'inlier_weight': 0}, query={'alpha': 0.3})
    """
    divided = Settings({}, {})
    for name, value in read_settings(text).items():
        if name.startswith(QUERY_PREFIX):
            divided.query[name.removeprefix(QUERY_PREFIX)] = value
        else:
            divided.detector[name] = value
    return divided


def _split(text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise SettingError(f"A setting is written name=value, got '{text}'.")
    return name, value


def _parse(text: str) -> Value:
    """Parse a number, a tuple, True, False or None; anything else is a string."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float | bool | tuple | None) else text
