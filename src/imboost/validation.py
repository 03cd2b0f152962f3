"""Checks of settings."""

from __future__ import annotations

import math
import numbers
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
    """Raise unless `value` is a number in a range.

    Parameters
    ----------
    name : str
        Name of the setting.
    value : object
    minimum, maximum : float, optional
        Inclusive bounds.
    above : float, optional
        Exclusive lower bound.
    whole : bool
        Whether the number must be an integer.
    """
    kind, expected = ("an integer", numbers.Integral) if whole else ("a number", numbers.Real)
    if isinstance(value, bool) or not isinstance(value, expected):
        raise TypeError(f"{name} must be {kind}, got {value!r}.")
    number = float(value)
    limits = []
    if minimum is not None:
        limits.append((f"at least {minimum:g}", number >= minimum))
    if above is not None:
        limits.append((f"above {above:g}", number > above))
    if maximum is not None:
        limits.append((f"at most {maximum:g}", number <= maximum))
    if not (math.isfinite(number) and all(holds for _, holds in limits)):
        required = " and ".join(text for text, _ in limits) or "finite"
        raise SettingError(f"{name} must be {required}, got {value!r}.")


def check_numbers(name: str, values: Any, **limits: Any) -> None:
    """Raise unless `values` is a tuple or list of at least one number in a range."""
    if not isinstance(values, tuple | list) or not values:
        raise SettingError(f"{name} must be a tuple of at least one number, got {values!r}.")
    for value in values:
        check_number(name, value, **limits)
