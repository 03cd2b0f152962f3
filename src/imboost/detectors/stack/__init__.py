"""Stacking: base learners on the columns and on unsupervised scores.

`detector` reads from top to bottom as the method does: unsupervised scores, base learners with
out-of-fold predictions, pooling weights.
"""

from imboost.detectors.stack.detector import Stack

__all__ = ["Stack"]
