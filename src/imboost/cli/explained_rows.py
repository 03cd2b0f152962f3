"""Explained rows as the terminal and pages show them: contributions that sum to the score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from imboost.cli.progress import stage
from imboost.reporting.formatting import count

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.explain import Explanation, Reason
    from imboost.scoring.row_selection import SelectedRows

MAX_REASONS = 8  # columns shown for a row; the others are added up
BAR_WIDTH = 8  # characters of the longest bar
MIN_WIDTH = 10  # characters of the narrowest column: a date

SUM = (
    "The baseline is the score of a typical row, the residual is what no column explains; with "
    "all contributions they sum to the score."
)
UNEXPLAINED = (
    "Most of the score is not attributed to any column: the row is unusual as a whole, and the "
    "contributions explain little."
)


@dataclass(frozen=True)
class ExplainedRow:
    """A row and the explanation of its score.

    Parameters
    ----------
    name : str
        Identifier or number of the row.
    is_outlier : bool
        Whether the row is called an outlier.
    explanation : Explanation
    """

    name: str
    is_outlier: bool
    explanation: Explanation

    def first(self, n: int) -> list[Reason]:
        """Return the first reasons."""
        return self.explanation.reasons[:n]

    def others(self, n: int) -> list[Reason]:
        """Return the reasons after the first ones."""
        return self.explanation.reasons[n:]

    @property
    def largest(self) -> float:
        """Return the size of the largest contribution, or 1 if all are 0."""
        sizes = [abs(reason.contribution) for reason in self.explanation.reasons]
        return max(sizes, default=0.0) or 1.0

    @property
    def has_tolerances(self) -> bool:
        """Whether the typical contributions of columns are known."""
        return any(reason.tolerance for reason in self.explanation.reasons)

    @property
    def warning(self) -> str:
        """Return a warning if an outlier's residual is larger than all contributions together."""
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
    with stage(f"explaining {count(len(selected.numbers), 'row')}"):
        explanations = detector.explain(selected.table)
    return [
        ExplainedRow(name, bool(explanation.score > detector.threshold_), explanation)
        for name, explanation in zip(selected.names(identifier), explanations, strict=True)
    ]


def page_context(rows: Sequence[ExplainedRow], n_reasons: int) -> dict[str, Any]:
    """Return what a page needs to show rows and their first reasons."""
    return {
        "rows": rows,
        "n_reasons": n_reasons,
        "method": describe_method(rows[0]),
        "shorten": shorten,
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


def describe_method(row: ExplainedRow) -> str:
    """Describe how contributions were computed, which is the same for all rows of a detector."""
    if not row.explanation.is_exact:
        return (
            "Contributions are estimates: half by how far the score falls with the expected value "
            f"in place of the row's own, half by how unlikely the value is. {SUM}"
        )
    exact = f"Contributions are exact: they are terms of the score. {SUM}"
    order = "Columns are sorted by how far their contribution exceeds the typical one."
    return f"{exact} {order}" if row.has_tolerances else exact


def print_rows(rows: Sequence[ExplainedRow], threshold: float) -> None:
    """Print the explanation of every row, and how contributions were computed."""
    console = Console(highlight=False)
    for row in rows:
        score = f": score {row.explanation.score:.4g}, "
        called = "an outlier (above" if row.is_outlier else "an inlier (not above"
        title = f"{score}called {called} the threshold {threshold:.4g})"
        console.print(Text.assemble((row.name, "bold"), title), soft_wrap=True)
        console.print(_reason_table(row))
        if row.warning:
            console.print(row.warning)
        console.print()
    console.print(describe_method(rows[0]))


def _reason_table(row: ExplainedRow) -> Table:
    """Return a table of reasons that ends with the sum of baseline, residual and reasons."""
    explanation = row.explanation
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in ("column", "value", "reference rows", "expected"):
        table.add_column(heading, overflow="fold", min_width=MIN_WIDTH)
    table.add_column("contribution", justify="right", no_wrap=True)
    if row.has_tolerances:
        table.add_column("typical", justify="right", no_wrap=True)
    table.add_column("", width=BAR_WIDTH, no_wrap=True)
    for reason in row.first(MAX_REASONS):
        typical = [f"\N{LESS-THAN OR EQUAL TO} {row.number(reason.tolerance)}"]
        table.add_row(
            Text(reason.column),
            Text(shorten(reason.value) or "(missing)"),
            _short_position(reason.position),
            Text(reason.expected),
            row.signed(reason.contribution),
            *(typical if row.has_tolerances else []),
            _bar(reason.contribution / row.largest),
        )
    total = row.number(explanation.score)
    sums = [
        ("residual", row.signed(explanation.residual)),
        ("baseline", row.number(explanation.baseline)),
        ("", "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * len(total)),
        ("score", total),
    ]
    if others := row.others(MAX_REASONS):
        added = sum(reason.contribution for reason in others)
        sums.insert(0, (count(len(others), "other column"), row.signed(added)))
    for name, figure in sums:
        table.add_row(name, "", "", "", figure)
    return table


def _short_position(position: str) -> str:
    """Drop "reference rows" from a position, since it is the heading of the column.

    >>> positions = ("above all reference rows", "in 2% of reference rows", "in no reference row")
    >>> [_short_position(position) for position in positions]
    ['above all', 'in 2%', 'in none']
    """
    if position == "in no reference row":
        return "in none"
    return position.removesuffix(" reference rows").removesuffix(" of")


def _bar(part: float) -> str:
    """Draw a contribution: a full bar if it raises the score, a hollow one if it lowers it."""
    return ("█" if part > 0 else "░") * round(BAR_WIDTH * abs(part))
