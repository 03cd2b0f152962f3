"""Why a row scores high, column by column.

What is known of the cells of usual rows is in `usual_values`; it needs Arrow, the rest does not.
"""

from imboost.explain.attributions import CellShares
from imboost.explain.explanation import Explanation, Reason
from imboost.explain.occlusion import shares_by_replacement
from imboost.explain.reference_rows import usual_rows

__all__ = [
    "CellShares",
    "Explanation",
    "Reason",
    "shares_by_replacement",
    "usual_rows",
]
