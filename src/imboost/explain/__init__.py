"""Why a row scores high, column by column."""

from imboost.explain.explanation import Explanation, Reason
from imboost.explain.replacement import CellShares, shares_by_replacement

__all__ = ["CellShares", "Explanation", "Reason", "shares_by_replacement"]
