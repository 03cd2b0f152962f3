"""Checks of settings."""

from __future__ import annotations

import math
import numbers
from operator import ge, gt, le
from typing import Any

from imboost.errors import SettingError


def check_number(
    name: str,
    value: Any,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    whole: bool = False,
) -> None:
    """Raise unless the setting `name` is a number, or an integer if `whole`, in a range.

    `minimum` and `maximum` are inclusive bounds, `above` is an exclusive one.
    """
    kind, expected = ("an integer", numbers.Integral) if whole else ("a number", numbers.Real)
    if isinstance(value, bool) or not isinstance(value, expected):
        raise TypeError(f"{name} must be {kind}, got {value!r}.")
    number = float(value)
    limits = {"at least": (ge, minimum), "above": (gt, above), "at most": (le, maximum)}
    given = {
        f"{text} {bound:g}": holds(number, bound)
        for text, (holds, bound) in limits.items()
        if bound is not None
    }
    if not math.isfinite(number):
        given["finite"] = False
    if not all(given.values()):
        raise SettingError(f"{name} must be {' and '.join(given)}, got {value!r}.")


def check_numbers(name: str, values: Any, **limits: Any) -> None:
    """Raise unless `values` is a tuple or list of at least one number in a range."""
    if not isinstance(values, tuple | list) or not values:
        raise SettingError(f"{name} must be a tuple of at least one number, got {values!r}.")
    for value in values:
        check_number(name, value, **limits)
