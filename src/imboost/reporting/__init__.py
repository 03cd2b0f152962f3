"""Pictures and pages, shared by the benchmark and the applications."""

from imboost.reporting.figures import (
    difference_bars,
    learning_curves,
    picture,
    small_multiples,
)
from imboost.reporting.page import render

__all__ = ["difference_bars", "learning_curves", "picture", "render", "small_multiples"]
