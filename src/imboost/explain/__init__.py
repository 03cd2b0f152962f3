"""Explanations: the contribution of each column to the score of a row.

`imboost.explain.reference_values` is not imported here, since it needs Arrow.
"""

from imboost.explain.attributions import Attributions
from imboost.explain.explanation import Explanation, Reason
from imboost.explain.occlusion import occlusion_attributions
from imboost.explain.reference_rows import reference_rows

__all__ = [
    "Attributions",
    "Explanation",
    "Reason",
    "occlusion_attributions",
    "reference_rows",
]
