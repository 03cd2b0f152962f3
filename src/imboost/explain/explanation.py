"""What is said of one row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """What one column adds to a row's score.

    Parameters
    ----------
    column : str
    value : str or None
        What the row has there; None if it is missing.
    share : float
        What that adds to the score.
    usual : str
        What a usual row would have there, given this row's other cells.
    """

    column: str
    value: str | None
    share: float
    usual: str


@dataclass(frozen=True)
class Explanation:
    """Why a row has its score.

    Parameters
    ----------
    score : float
        The row's score: the base and all shares.
    base : float
        The score of a usual row.
    is_exact : bool
        Whether shares follow from the score itself, or are estimated.
    reasons : list of Reason
        One for every column that is looked at, the largest share first.
    """

    score: float
    base: float
    is_exact: bool
    reasons: list[Reason]
