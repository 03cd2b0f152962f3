"""Why a row scores high, column by column."""

from imboost.explain.cell_shares import CellShares
from imboost.explain.explanation import Explanation, Reason
from imboost.explain.replacement import shares_by_replacement
from imboost.explain.usual_values import (
    UsualCells,
    UsualLevels,
    UsualNumbers,
    usual_cells,
    usual_rows,
)

__all__ = [
    "CellShares",
    "Explanation",
    "Reason",
    "UsualCells",
    "UsualLevels",
    "UsualNumbers",
    "shares_by_replacement",
    "usual_cells",
    "usual_rows",
]
