"""A row and its reasons as a reader sees them: on the terminal, as a sum that can be checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from imboost.explain import Explanation, Reason

MOST_REASONS = 8
"""Columns that are shown for a row; the others are summed up."""

BAR_WIDTH = 8
DATE_WIDTH = 10
"""Columns are not made narrower than a date is wide."""

MOST_DIGITS = 8
"""Longer numbers are rounded for a reader."""

LARGE, HUGE = 1e6, 1e15
"""Numbers between these are written without an exponent."""

NOTHING = "(missing)"


@dataclass(frozen=True)
class ExplainedRow:
    """A row and why it scores as it does.

    Parameters
    ----------
    name : str
        What a reader calls the row.
    is_outlier : bool
        Whether it is called an outlier.
    explanation : Explanation
    """

    name: str
    is_outlier: bool
    explanation: Explanation

    def first(self, n: int) -> list[Reason]:
        """Return the columns that add most, most first."""
        return self.explanation.reasons[:n]

    def others(self, n: int) -> list[Reason]:
        """Return the columns that are not among the first."""
        return self.explanation.reasons[n:]

    @property
    def largest_share(self) -> float:
        """Return the size of the largest share, to measure the others by."""
        return (
            max((abs(reason.contribution) for reason in self.explanation.reasons), default=0.0)
            or 1.0
        )

    @property
    def has_margins(self) -> bool:
        """Whether it is known what columns may add in reference rows."""
        return any(reason.tolerance for reason in self.explanation.reasons)

    @property
    def is_odd_as_a_whole(self) -> bool:
        """Whether no column adds more to an outlier's score than all columns together."""
        told = self.explanation
        return self.is_outlier and told.residual > sum(
            max(one.contribution, 0.0) for one in told.reasons
        )

    def write(self, share: float) -> str:
        """Write a share with as many digits after the point as the largest one needs."""
        text = f"{share:+.{self._n_digits}f}"
        return text.replace("-", "\N{MINUS SIGN}")

    def write_total(self, total: float) -> str:
        """Write what shares are added to, or sum up to, with as many digits as they have."""
        return f"{total:.{self._n_digits}f}".replace("-", "\N{MINUS SIGN}")

    @property
    def _n_digits(self) -> int:
        return max(1, 2 - math.floor(math.log10(self.largest_share)))


def shorten(value: str | None) -> str | None:
    """Write a cell with six digits if it is a long number; all those before the point are kept.

    >>> shorten("29.357922354011"), shorten("6664660.25"), shorten("x51")
    ('29.3579', '6664660', 'x51')
    """
    if value is None or len(value) <= MOST_DIGITS:
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{number:.0f}" if LARGE <= abs(number) < HUGE else f"{number:.6g}"


def print_rows(rows: Sequence[ExplainedRow], threshold: float) -> None:
    """Print what columns add to each row's score, and how that is known."""
    console = Console()
    for row in rows:
        _print_row(console, row, threshold)
        console.print()
    console.print(how_known(rows[0]), highlight=False)


def how_known(row: ExplainedRow) -> str:
    """Say how what columns add is known; all rows that a detector explains are alike in it."""
    if not row.explanation.is_exact:
        return (
            "What columns add is estimated: half by how far the score falls with the expected "
            "value in place of the row's, half by how surprising the value is."
        )
    exact = "What columns add is exact: it is part of the score itself."
    order = "Columns are in the order of what they add beyond what they may add in reference rows."
    return f"{exact} {order}" if row.has_margins else exact


def _print_row(console: Console, row: ExplainedRow, threshold: float) -> None:
    told = row.explanation
    called = "an outlier" if row.is_outlier else "an inlier"
    side = "above" if row.is_outlier else "not above"
    console.print(
        Text.assemble(
            (row.name, "bold"),
            f": score {told.score:.4g}, called {called} ({side} the threshold {threshold:.4g})",
        ),
        highlight=False,
        soft_wrap=True,
    )
    console.print(_table_of(row), highlight=False)
    if row.is_odd_as_a_whole:
        console.print(
            "Most of the score belongs to no column: the row is odd as a whole, and its reasons "
            "tell little.",
            highlight=False,
        )


def _table_of(row: ExplainedRow) -> Table:
    """Return reasons, and the sum that they are part of."""
    told = row.explanation
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in ("column", "value", "of reference rows", "expected"):
        table.add_column(heading, overflow="fold", min_width=DATE_WIDTH)
    table.add_column("adds", justify="right", no_wrap=True)
    if row.has_margins:
        table.add_column("usual", justify="right", no_wrap=True)
    table.add_column("", width=BAR_WIDTH, no_wrap=True)
    for reason in row.first(MOST_REASONS):
        usual = [f"\N{LESS-THAN OR EQUAL TO} {row.write_total(reason.tolerance)}"]
        table.add_row(
            Text(reason.column),
            Text(shorten(reason.value) or NOTHING),
            _of_reference_rows(reason.position),
            Text(reason.expected),
            row.write(reason.contribution),
            *(usual if row.has_margins else []),
            _bar(reason.contribution / row.largest_share),
        )
    total = row.write_total(told.score)
    sums = [
        ("no column", row.write(told.residual)),
        ("a reference row", row.write_total(told.baseline)),
    ]
    if others := row.others(MOST_REASONS):
        named = "1 other column" if len(others) == 1 else f"{len(others)} other columns"
        sums.insert(0, (named, row.write(sum(reason.contribution for reason in others))))
    for name, figure in (*sums, ("", "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * len(total))):
        table.add_row(name, "", "", "", figure)
    table.add_row("score", "", "", "", total)
    return table


def _of_reference_rows(where: str) -> str:
    """Say where a value lies in the fewest words.

    >>> _of_reference_rows("above all reference rows")
    'above all'
    >>> _of_reference_rows("in no reference row")
    'in none'
    """
    if where == "in no reference row":
        return "in none"
    return where.removesuffix(" reference rows").removesuffix(" of")


def _bar(part: float) -> str:
    """Draw a share: full for what adds to the score, hollow for what takes from it."""
    return ("█" if part > 0 else "░") * round(BAR_WIDTH * abs(part))
