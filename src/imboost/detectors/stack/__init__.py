"""Stacking: base learners on the columns and on unsupervised scores.

Start reading with `detector`, which follows the order of the method: unsupervised scores, base
learners with out-of-fold predictions, pooling weights.
"""

from imboost.detectors.stack.detector import Stack

__all__ = ["Stack"]
