"""Explained rows as the terminal and pages show them: contributions that sum to the score."""

from __future__ import annotations

import math
from dataclasses import dataclass

from imboost.detectors.table_detector import TableDetector
from imboost.explain import Explanation
from imboost.facts import Fact
from imboost.present.formatting import number
from imboost.scoring.row_selection import SelectedRows

SUM = (
    "The baseline is the score of a typical row, the residual is the part that no column "
    "explains; with all contributions they sum to the score."
)
UNEXPLAINED = (
    "Most of the score is not attributed to any column: the row is unusual as a whole, and the "
    "contributions explain little."
)


@dataclass(frozen=True)
class ExplainedRow:
    """A row's identifier or number, whether it is a predicted outlier, and its explanation."""

    name: str
    is_outlier: bool
    explanation: Explanation

    def first(self, n: int) -> list[Fact]:
        """Return the first reasons."""
        return self.explanation.reasons[:n]

    def others(self, n: int) -> list[Fact]:
        """Return the reasons after the first ones."""
        return self.explanation.reasons[n:]

    @property
    def largest(self) -> float:
        """The size of the largest contribution, or 1 if all are 0."""
        sizes = [abs(reason.contribution) for reason in self.explanation.reasons]
        return max(sizes, default=0.0) or 1.0

    @property
    def has_tolerances(self) -> bool:
        """Whether the typical contributions of columns are known."""
        return any(reason.tolerance for reason in self.explanation.reasons)

    @property
    def warning(self) -> str:
        """A warning if an outlier's residual is larger than all contributions together."""
        positive = sum(max(reason.contribution, 0.0) for reason in self.explanation.reasons)
        is_unexplained = self.is_outlier and self.explanation.residual > positive
        return UNEXPLAINED if is_unexplained else ""

    def signed(self, contribution: float) -> str:
        """Write a contribution with as many decimals as the largest one needs."""
        return self.number(contribution, sign="+")

    def number(self, value: float, sign: str = "") -> str:
        """Write a baseline or a score with as many decimals as the contributions."""
        return number(value, max(1, 2 - math.floor(math.log10(self.largest))), sign)


def explain_rows(
    detector: TableDetector, selected: SelectedRows, identifier: str | None
) -> list[ExplainedRow]:
    """Explain a few rows, in their order."""
    explanations = detector.explain(selected.table)
    return [
        ExplainedRow(name, bool(explanation.score > detector.threshold_), explanation)
        for name, explanation in zip(selected.names(identifier), explanations, strict=True)
    ]


def describe_method(explanation: Explanation) -> str:
    """Describe how contributions were computed, which is the same for all rows of a detector."""
    if not explanation.is_exact:
        return (
            "Contributions are estimates: half by how far the score falls with the expected value "
            f"in place of the row's own, half by how unlikely the value is. {SUM}"
        )
    exact = f"Contributions are exact: they are terms of the score. {SUM}"
    order = "Columns are sorted by how far their contribution exceeds the typical one."
    return f"{exact} {order}" if any(one.tolerance for one in explanation.reasons) else exact
