"""The explanation of one row's score."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """Contribution of one column to a row's score.

    Parameters
    ----------
    column : str
    value : str or None
        The row's value; None if it is missing.
    contribution : float
        The part of the score that belongs to this column.
    tolerance : float
        Contributions up to this size also occur in reference rows; 0 where unknown.
    expected : str
        The value predicted from the row's other columns.
    reference_fraction : float
        Where the value lies among the reference rows (training rows not called outliers), from
        0 to 1: for numbers and datetimes the fraction of rows with a smaller value, for a
        category the fraction with the same value, for a missing value the fraction in which it
        is missing too.
    position : str
        The same as text, such as "above 99.8% of reference rows".
    """

    column: str
    value: str | None
    contribution: float
    tolerance: float
    expected: str
    reference_fraction: float
    position: str


@dataclass(frozen=True)
class Explanation:
    """A row's score as the sum of a baseline, a residual and the columns' contributions.

    Parameters
    ----------
    score : float
        The row's score.
    baseline : float
        The score of a typical row.
    residual : float
        The part of the score that belongs to no column.
    is_exact : bool
        Whether the contributions are terms of the score itself, or estimates.
    reasons : list of Reason
        One per column, sorted by how far the contribution exceeds its tolerance.
    """

    score: float
    baseline: float
    residual: float
    is_exact: bool
    reasons: list[Reason]
