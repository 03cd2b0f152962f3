"""Explained rows as the terminal and pages show them: contributions that sum to the score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from imboost.detectors.table_detector import TableDetector
from imboost.explain import Explanation
from imboost.facts import Fact
from imboost.present import wording
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
    """A row's identifier or number, whether it is called an outlier, and its explanation."""

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
        return has_tolerances(self.explanation)

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
        n_decimals = max(1, 2 - math.floor(math.log10(self.largest)))
        return f"{value:{sign}.{n_decimals}f}".replace("-", "\N{MINUS SIGN}")


def explain_rows(
    detector: TableDetector, selected: SelectedRows, identifier: str | None
) -> list[ExplainedRow]:
    """Explain a few rows, in their order."""
    explanations = detector.explain(selected.table)
    return [
        ExplainedRow(name, bool(explanation.score > detector.threshold_), explanation)
        for name, explanation in zip(selected.names(identifier), explanations, strict=True)
    ]


def page_context(rows: Sequence[ExplainedRow], n_reasons: int) -> dict[str, Any]:
    """Return what a page needs to show rows and their first reasons."""
    method = describe_method(rows[0].explanation)
    return {
        "rows": rows,
        "n_reasons": n_reasons,
        "method": method,
        "shorten": shorten,
        "wording": wording,
    }


def shorten(value: str | None) -> str | None:
    """Round a long number to six digits, or to a whole number from a million on.

    >>> shorten("29.357922354011"), shorten("6664660.25"), shorten("x51")
    ('29.3579', '6664660', 'x51')
    """
    if value is None or len(value) <= 8:
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{number:.0f}" if 1e6 <= abs(number) < 1e15 else f"{number:.6g}"


def describe_method(explanation: Explanation) -> str:
    """Describe how contributions were computed, which is the same for all rows of a detector."""
    if not explanation.is_exact:
        return (
            "Contributions are estimates: half by how far the score falls with the expected value "
            f"in place of the row's own, half by how unlikely the value is. {SUM}"
        )
    exact = f"Contributions are exact: they are terms of the score. {SUM}"
    order = "Columns are sorted by how far their contribution exceeds the typical one."
    return f"{exact} {order}" if has_tolerances(explanation) else exact


def has_tolerances(explanation: Explanation) -> bool:
    """Whether the typical contributions of columns are known."""
    return any(reason.tolerance for reason in explanation.reasons)
