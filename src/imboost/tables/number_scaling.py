"""Scalings of a column of numbers; missing values stay missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from imboost.arrays import Floats
from imboost.errors import UnknownNameError

Values = Floats

MAX_SCALED = 1e100  # scaled values are clipped to this, so that squares stay finite
ASINH_SCALE = 5.0
"""Default of `NumberScaling.asinh_scale` for robust scaling, found by experiment: if smaller,
outliers come too close to other rows; if much larger, one extreme value dominates the column."""

MAX_OTHER_SIGN = 0.01  # fraction of numbers with the other sign that may be errors
LOG_UNIT = 3.0  # numbers above a third of the 5% quantile are scaled logarithmically
N_QUANTILES = 100
TAIL_SLOPE = 3.0  # slope of a quantile scaling just outside the training range; about 1 inside


@dataclass(frozen=True)
class NumberScaling:
    """A scaling ``(x - center) / scale``, or one by quantiles; nan stays nan.

    Beyond `asinh_scale`, scaled values grow logarithmically, by the inverse hyperbolic sine; with
    0 the scaling is linear. `quantiles` are evenly spaced and mapped to the range from -1 to 1.
    """

    center: float
    scale: float
    asinh_scale: float = 0.0
    quantiles: Values | None = None

    def transform(self, values: Values) -> Values:
        """Scale values."""
        with np.errstate(over="ignore"):  # halved, since the difference may overflow too
            scaled = (values / 2 - self.center / 2) / self.scale * 2
        scaled = np.clip(scaled, -MAX_SCALED, MAX_SCALED)
        if self.quantiles is not None:
            levels = np.linspace(-1.0, 1.0, len(self.quantiles))
            inside = np.interp(values, self.quantiles, levels)
            outside = scaled - np.clip(scaled, -1.0, 1.0)
            return np.where(np.isnan(values), np.nan, inside + np.arcsinh(TAIL_SLOPE * outside))
        if self.asinh_scale:
            return np.asarray(self.asinh_scale * np.arcsinh(scaled / self.asinh_scale))
        return np.asarray(scaled)

    def inverse_transform(self, scaled: Values) -> Values:
        """Return scaled values in their original units."""
        if self.quantiles is None:
            if self.asinh_scale:
                scaled = self.asinh_scale * np.sinh(scaled / self.asinh_scale)
            return np.asarray(self.center + scaled * self.scale)
        inside = np.clip(scaled, -1.0, 1.0)
        levels = np.linspace(-1.0, 1.0, len(self.quantiles))
        outside = np.sinh(scaled - inside) / TAIL_SLOPE * self.scale
        return np.asarray(np.interp(inside, levels, self.quantiles) + outside)


def _fit_minmax(known: Values) -> NumberScaling:
    low, high = float(known.min()), float(known.max())
    return NumberScaling(low, (high / 2 - low / 2) * 2 or _magnitude(low))


def _fit_robust(known: Values) -> NumberScaling:
    lower, median, upper = (float(q) for q in np.quantile(known, (0.25, 0.5, 0.75)))
    scale = upper / 2 - lower / 2 or float(np.abs(known - median).mean()) or _magnitude(median)
    return NumberScaling(median, scale, asinh_scale=ASINH_SCALE)


def _fit_log(known: Values) -> NumberScaling:
    """Scale a column by its logarithm if it is skewed, else as `_fit_robust` does.

    In a skewed column nearly all numbers have the same sign, and large ones lie farther from the
    median than small ones. On a logarithmic scale a price of 19 or -900 is far from others
    between 700 and 3,000.
    """
    sizes = np.abs(known)
    low, median, high = np.quantile(sizes, (0.05, 0.5, 0.95))
    has_one_sign = min((known < 0).mean(), (known > 0).mean()) <= MAX_OTHER_SIGN
    if not has_one_sign or high - median <= median - low:
        return _fit_robust(known)
    unit = float(np.quantile(sizes[sizes > 0], 0.05)) / LOG_UNIT
    scale = max(unit / ASINH_SCALE, float(np.finfo(np.float64).tiny))
    return NumberScaling(0.0, scale, asinh_scale=ASINH_SCALE)


def _fit_quantile(known: Values) -> NumberScaling:
    low, high = float(known.min()), float(known.max())
    half_range = high / 2 - low / 2 or _magnitude(low)
    quantiles = np.quantile(known, np.linspace(0, 1, N_QUANTILES + 1))
    return NumberScaling(low / 2 + high / 2, half_range, quantiles=quantiles)


def _magnitude(constant: float) -> float:
    """Return the scale of a column in which all values are the same."""
    return max(abs(constant), 1.0)


SCALINGS: dict[str, Callable[[Values], NumberScaling]] = {
    "minmax": _fit_minmax,
    "robust": _fit_robust,
    "log": _fit_log,
    "quantile": _fit_quantile,
}


def fit_scaling(name: str, values: Values) -> NumberScaling:
    """Return the scaling called `name`, fitted to the values that are not missing."""
    if name not in SCALINGS:
        raise UnknownNameError("scaling", name, SCALINGS)
    return SCALINGS[name](values[~np.isnan(values)])
