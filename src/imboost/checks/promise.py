"""How a contract suite says that a promise was broken."""

from __future__ import annotations

import numpy as np


def promise(holds: bool | np.bool_, message: str) -> None:
    """Raise an AssertionError with the message unless the promise holds."""
    if not holds:
        raise AssertionError(message)
