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
    margin : float
        What the column may add in usual rows; 0 where that is not known.
    usual : str
        What a usual row would have there, given this row's other cells.
    place : float
        Where the value lies among usual rows: for numbers and times, the part of them that has
        a smaller value; for a category, the part that has the same; for a missing cell, the
        part in which it is missing too.
    where : str
        The same in words, such as "above 99.8 % of usual rows".
    """

    column: str
    value: str | None
    share: float
    margin: float
    usual: str
    place: float
    where: str


@dataclass(frozen=True)
class Explanation:
    """Why a row has its score: the base, the rest and all shares, whose sum it is.

    Parameters
    ----------
    score : float
        The row's score.
    base : float
        The score of a usual row.
    rest : float
        What no column adds.
    is_exact : bool
        Whether shares follow from the score itself, or are estimated.
    reasons : list of Reason
        One for every column that is looked at, the largest share beyond its margin first.
    """

    score: float
    base: float
    rest: float
    is_exact: bool
    reasons: list[Reason]
