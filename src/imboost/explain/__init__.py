"""Why a row scores high, column by column.

What is known of the cells of usual rows is in `usual_values`; it needs Arrow, the rest does not.
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
