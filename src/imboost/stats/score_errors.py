"""How far scores may differ that should be the same."""

from __future__ import annotations

import numpy as np

from imboost.arrays import Floats

TOLERANCE = 1e-5  # maximum relative error of scores by another program or processor


def relative_errors(found: Floats, expected: Floats) -> Floats:
    """Return the errors of scores, relative to the expected score or to 1 if that is larger."""
    return np.asarray(np.abs(found - expected) / np.maximum(np.abs(expected), 1.0))
