"""Checks of settings, with messages that say what was required and what arrived."""

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
    """Raise unless `value` is a number in the wanted range.

    Parameters
    ----------
    name : str
        The setting, as the user spells it.
    value : object
        What arrived.
    minimum, maximum : float, optional
        Bounds that may be reached.
    above : float, optional
        A lower bound that may not be reached.
    whole : bool
        Whether the number must be an integer.
    """
    kind = "an integer" if whole else "a number"
    wanted = numbers.Integral if whole else numbers.Real
    if isinstance(value, bool) or not isinstance(value, wanted):
        raise TypeError(f"{name} must be {kind}, got {value!r}.")
    number = float(value)
    limits = [("finite", math.isfinite(number))]
    if minimum is not None:
        limits.append((f"at least {minimum:g}", number >= minimum))
    if above is not None:
        limits.append((f"above {above:g}", number > above))
    if maximum is not None:
        limits.append((f"at most {maximum:g}", number <= maximum))
    if not all(holds for _, holds in limits):
        wanted_range = " and ".join(text for text, _ in limits[1:]) or "finite"
        raise SettingError(f"{name} must be {wanted_range}, got {value!r}.")


def check_numbers(name: str, values: Any, **limits: Any) -> None:
    """Raise unless `values` is a tuple or list of at least one number in the wanted range."""
    if not isinstance(values, tuple | list) or not values:
        raise SettingError(f"{name} must be a tuple of at least one number, got {values!r}.")
    for value in values:
        check_number(name, value, **limits)
