"""The rounding of numbers."""

from __future__ import annotations

import numpy as np

from imboost.arrays import Floats

MAX_DECIMALS = 6  # numbers with more decimals count as not rounded
ROUNDED_FRACTION = 0.99  # of the values have the decimals of their column
MAD_TO_SD = 1.4826  # standard deviation of a Gaussian in median absolute deviations


def rounding_unit(values: Floats) -> float:
    """Return the unit to which numbers are rounded, 0 if they are not.

    >>> rounding_unit(np.array([1.25, 3.5, 7.0])), rounding_unit(np.array([3.0, 4.0]))
    (0.01, 1.0)
    >>> rounding_unit(np.array([1 / 3, 1 / 7]))
    0.0
    """
    known = values[np.isfinite(values)]
    for decimals in range(MAX_DECIMALS + 1):
        scaled = known * 10.0**decimals
        is_rounded = np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1e3)
        if is_rounded.mean() >= ROUNDED_FRACTION:
            return float(10.0**-decimals)
    return 0.0


def center_and_spread(values: Floats) -> tuple[float, float]:
    """Return the median and a robust standard deviation that is not 0.

    >>> center_and_spread(np.array([1.0, 2.0, 3.0, 4.0, 90.0]))
    (3.0, 1.4826)
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    center = float(np.median(known))
    spread = MAD_TO_SD * float(np.median(np.abs(known - center)))
    return center, spread or float(known.std()) or 1.0
