"""Attribution of the scores of rows to the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from imboost.arrays import Floats, Mask
from imboost.facts import Fact
from imboost.present import wording
from imboost.present.formatting import number

WEAK_REASON = 0.25  # of the largest contribution: weaker ones are not main reasons
MAX_MAIN_REASONS = 4


@dataclass(frozen=True, eq=False)
class Attributions:
    """Contributions of the columns to the scores of rows.

    A score is the sum of the baseline, the residual and the contributions.
    """

    baseline: float  # the score of a typical row
    residual: Floats  # (n_rows,), the part of each score that belongs to no column
    contributions: Floats  # (n_rows, n_input_columns), near 0 for a typical value
    tolerances: Floats
    """(n_input_columns,); contributions up to this size also occur in reference rows."""
    expected: Floats
    """(n_rows, n_columns), encoded rows with every cell predicted from the others of its row; the
    predicted category is that of the column with the largest value."""
    is_exact: bool  # whether contributions are terms of the score itself, or estimates


@dataclass(frozen=True)
class Explanation:
    """A row's score as the sum of a baseline, a residual and the columns' contributions.

    `reasons` has one entry per column, sorted by how far its contribution exceeds its tolerance.
    See `Attributions` for the other fields.
    """

    score: float
    baseline: float
    residual: float
    is_exact: bool
    reasons: list[Fact]

    @property
    def main_reasons(self) -> list[Fact]:
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

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation with values as text, for JSON."""
        return {
            "score": self.score,
            "baseline": self.baseline,
            "residual": self.residual,
            "is_exact": self.is_exact,
            "reasons": [
                {
                    "kind": str(reason.kind),
                    "column": reason.column,
                    "value": reason.text,
                    "contribution": reason.contribution,
                    "tolerance": reason.tolerance,
                    "expected": wording.cell(reason.expected),
                    "reference_share": reason.reference_share,
                    "position": wording.position(reason),
                }
                for reason in self.reasons
            ],
        }

    def _repr_html_(self) -> str:
        from imboost.present.notebook_tables import (
            notebook_pairs,
            notebook_table,
            notebook_title,
        )

        rows = [
            (
                reason.column,
                "" if reason.is_about_row else reason.text or "(missing)",
                wording.cell(reason.expected),
                wording.position(reason),
                number(reason.contribution, sign="+"),
            )
            for reason in self.main_reasons
        ]
        heading = ("column", "value", "expected", "position", "contribution")
        parts = (
            ("baseline", number(self.baseline)),
            ("other columns", number(self.other_contributions, sign="+")),
            ("residual", number(self.residual, sign="+")),
        )
        title = notebook_title(f"Score {number(self.score)}")
        return f"<div>{title}{notebook_table(heading, rows, 1)}{notebook_pairs(parts)}</div>"


def reference_rows(scores: Floats, threshold: float, *, is_estimated: bool = False) -> Mask:
    """Return a mask of the reference rows: the training rows not predicted as outliers.

    The half of the rows with the lowest scores always belongs to them. If the threshold is only
    estimated, the lowest nine tenths do, so that a bad estimate does not distort them.
    """
    minimum = float(np.quantile(scores, 0.9 if is_estimated else 0.5))
    return np.asarray(~(scores > max(threshold, minimum)))
