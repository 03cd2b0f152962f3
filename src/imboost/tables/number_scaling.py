"""Scalings of a column of numbers with gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.errors import UnknownNameError

Values = NDArray[np.float64]

LARGEST_RATIO = 1e100
"""Values further away than so many widths count as that far."""

BEND = 5.0
"""Where a robust scaling begins to draw values in, in halves of the middle half's range: nearer,
and rows far out come too near to the others; much farther, and one value squashes the rest."""

N_QUANTILES = 100
TAIL = 3.0
"""Beyond the training range a quantile scaling goes on in steps of the range, from here."""


@dataclass(frozen=True)
class NumberScaling:
    """A map of ``(x - middle) / width``, or one by quantiles; nan stays nan.

    Parameters
    ----------
    middle, width : float
        Where the column lies and how wide it is.
    bend : float
        So many widths from the middle distances begin to count less and less, in the end as the
        logarithm does; nowhere if 0.
    quantiles : array or None
        Values at evenly spaced shares of the training rows, for a scaling by them.
    """

    middle: float
    width: float
    bend: float = 0.0
    quantiles: Values | None = None

    def transform(self, values: Values) -> Values:
        """Scale values."""
        with np.errstate(over="ignore"):  # halved, since the difference may overflow too
            scaled = np.clip(
                (values / 2 - self.middle / 2) / self.width * 2, -LARGEST_RATIO, LARGEST_RATIO
            )
        if self.quantiles is not None:
            shares = np.linspace(-1.0, 1.0, len(self.quantiles))
            inside = np.interp(values, self.quantiles, shares)
            beyond = scaled - np.clip(scaled, -1.0, 1.0)
            return np.where(np.isnan(values), np.nan, inside + np.arcsinh(TAIL * beyond))
        return self.bend * np.arcsinh(scaled / self.bend) if self.bend else scaled

    def inverse_transform(self, scaled: Values) -> Values:
        """Return the values that were scaled, those beyond the training range by quantiles too."""
        if self.quantiles is None:
            ratio = self.bend * np.sinh(scaled / self.bend) if self.bend else scaled
            return np.asarray(self.middle + ratio * self.width)
        inside = np.clip(scaled, -1.0, 1.0)
        shares = np.linspace(-1.0, 1.0, len(self.quantiles))
        beyond = np.sinh(scaled - inside) / TAIL * self.width
        return np.asarray(np.interp(inside, shares, self.quantiles) + beyond)


def _minmax(known: Values) -> NumberScaling:
    low, high = float(known.min()), float(known.max())
    return NumberScaling(low, (high / 2 - low / 2) * 2 or _size(low))


def _robust(known: Values) -> NumberScaling:
    lower, middle, upper = (float(q) for q in np.quantile(known, (0.25, 0.5, 0.75)))
    width = upper / 2 - lower / 2 or float(np.abs(known - middle).mean()) or _size(middle)
    return NumberScaling(middle, width, bend=BEND)


def _quantile(known: Values) -> NumberScaling:
    low, high = float(known.min()), float(known.max())
    half = high / 2 - low / 2
    quantiles = np.quantile(known, np.linspace(0, 1, N_QUANTILES + 1))
    return NumberScaling(low / 2 + high / 2, half or _size(low), quantiles=quantiles)


def _size(constant: float) -> float:
    return max(abs(constant), 1.0)


SCALINGS: dict[str, Any] = {"minmax": _minmax, "robust": _robust, "quantile": _quantile}
"""By name: the paper's, that of the middle half with far values drawn in, that of ranks."""


def fit_scaling(name: str, values: Values) -> NumberScaling:
    """Return the scaling called `name`, fitted on the values that are not missing."""
    if name not in SCALINGS:
        raise UnknownNameError("scaling", name, SCALINGS)
    scaling: NumberScaling = SCALINGS[name](values[~np.isnan(values)])
    return scaling
