"""Names for the types of NumPy arrays that many modules use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]  # row or column numbers
Mask = NDArray[np.bool_]
