"""Explanations: the contribution of each column to the score of a row.

`imboost.explain.reference_values` is not imported here, since it needs Arrow.
"""

from imboost.explain.attributions import Attributions, Explanation, reference_rows
from imboost.explain.occlusion import occlusion_attributions

__all__ = [
    "Attributions",
    "Explanation",
    "occlusion_attributions",
    "reference_rows",
]
