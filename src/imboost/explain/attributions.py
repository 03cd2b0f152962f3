"""Attribution of the scores of rows to the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imboost.arrays import Floats, Mask
from imboost.tables.layout import WHOLE_ROW

WEAK_REASON = 0.25  # of the largest contribution: weaker ones are not main reasons
MAX_MAIN_REASONS = 4


@dataclass(frozen=True, eq=False)
class Attributions:
    """Contributions of the columns to the scores of rows.

    A score is the sum of the baseline, the residual and the contributions.

    Parameters
    ----------
    baseline : float
        The score of a typical row.
    residual : array of shape (n_rows,)
        The part of each score that belongs to no column.
    contributions : array of shape (n_rows, n_input_columns)
        The part of each score that belongs to each column; near 0 for a typical value.
    tolerances : array of shape (n_input_columns,)
        Contributions up to this size also occur in reference rows; 0 where unknown.
    expected : array of shape (n_rows, n_columns)
        Encoded rows with every cell predicted from the other cells of its row; for a category,
        the column with the largest value is the predicted one.
    is_exact : bool
        Whether the contributions are terms of the score itself, or estimates.
    """

    baseline: float
    residual: Floats
    contributions: Floats
    tolerances: Floats
    expected: Floats
    is_exact: bool


@dataclass(frozen=True)
class Reason:
    """Contribution of one column to a row's score.

    Parameters
    ----------
    column : str
    value : str or None
        The row's value; None if it is missing.
    contribution, tolerance : float
        See `Attributions`.
    expected : str
        The value predicted from the row's other columns.
    reference_fraction : float
        Where the value lies among the reference rows (training rows not called outliers), from
        0 to 1: for numbers and datetimes the fraction of rows with a smaller value, for a
        category the fraction with the same value, for a missing value the fraction in which it
        is missing too.
    position : str
        The same as text, such as "above 99.8% of reference rows", or the rule that the cell
        breaks, such as "total should be net + tax = 12.50".
    """

    column: str
    value: str | None
    contribution: float
    tolerance: float
    expected: str
    reference_fraction: float
    position: str

    @property
    def is_about_row(self) -> bool:
        """Whether the reason is the row as a whole, which repeats another, and not a cell."""
        return self.column == WHOLE_ROW

    @property
    def is_rule(self) -> bool:
        """Whether `position` is a rule that the cell breaks; other positions name their rows."""
        return "reference row" not in self.position


@dataclass(frozen=True)
class Explanation:
    """A row's score as the sum of a baseline, a residual and the columns' contributions.

    `reasons` has one entry per column, sorted by how far the contribution exceeds its tolerance.
    See `Attributions` for the other fields.
    """

    score: float
    baseline: float
    residual: float
    is_exact: bool
    reasons: list[Reason]

    @property
    def main_reasons(self) -> list[Reason]:
        """The reasons that make a row unusual, the strongest first.

        Their contributions exceed those of reference rows and are not small beside the largest.
        """
        largest = max((reason.contribution for reason in self.reasons), default=0.0)
        return [
            reason
            for reason in self.reasons
            if reason.contribution > max(reason.tolerance, WEAK_REASON * largest, 0.0)
        ][:MAX_MAIN_REASONS]

    @property
    def other_contributions(self) -> float:
        """The sum of the contributions that are not main reasons."""
        main = sum(reason.contribution for reason in self.main_reasons)
        return sum(reason.contribution for reason in self.reasons) - main

    def _repr_html_(self) -> str:
        from imboost.present.notebook_tables import (
            notebook_pairs,
            notebook_table,
            notebook_title,
        )

        rows = [
            (
                one.column,
                "" if one.is_about_row else one.value or "(missing)",
                one.expected,
                one.position,
                f"{one.contribution:+.4g}",
            )
            for one in self.main_reasons
        ]
        heading = ("column", "value", "expected", "position", "contribution")
        parts = (
            ("baseline", f"{self.baseline:.4g}"),
            ("other columns", f"{self.other_contributions:+.4g}"),
            ("residual", f"{self.residual:+.4g}"),
        )
        title, table = notebook_title(f"Score {self.score:.4g}"), notebook_table(heading, rows, 1)
        return f"<div>{title}{table}{notebook_pairs(parts)}</div>"


def reference_rows(scores: Floats, threshold: float, *, is_estimated: bool = False) -> Mask:
    """Return a mask of the reference rows: the training rows not called outliers.

    The half of the rows with the lowest scores always belongs to them. If the threshold is only
    estimated, the lowest nine tenths do, so that a bad estimate does not distort them.
    """
    minimum = float(np.quantile(scores, 0.9 if is_estimated else 0.5))
    return np.asarray(~(scores > max(threshold, minimum)))
