"""Explained rows on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from imboost.present.formatting import count, number, printable, shorten

if TYPE_CHECKING:
    from imboost.scoring.explained_rows import ExplainedRow

MAX_REASONS = 8  # columns shown for a row; the others are added up
BAR_WIDTH = 8  # characters of the longest bar
MIN_WIDTH = 10  # characters of the narrowest column: a date


def print_rows(rows: Sequence[ExplainedRow], threshold: float) -> None:
    """Print the explanation of every row, and how contributions were computed."""
    from imboost.scoring.explained_rows import describe_method

    console = Console(highlight=False)
    for row in rows:
        predicted = "outlier (above" if row.is_outlier else "inlier (not above"
        title = f": score {number(row.explanation.score)}, predicted {predicted} the threshold "
        title += f"{number(threshold)})"
        console.print(Text.assemble((printable(row.name), "bold"), title), soft_wrap=True)
        console.print(_reason_table(row))
        if row.warning:
            console.print(row.warning)
        console.print()
    console.print(describe_method(rows[0].explanation))


def _reason_table(row: ExplainedRow) -> Table:
    """Return a table of reasons that ends with the sum of baseline, residual and reasons."""
    from imboost.present import wording

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in ("column", "value", "reference rows", "expected"):
        table.add_column(heading, overflow="fold", min_width=MIN_WIDTH)
    for heading in ["contribution", *["typical"] * row.has_tolerances]:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", width=BAR_WIDTH, no_wrap=True)
    for reason in row.first(MAX_REASONS):
        part = reason.contribution / row.largest
        block = "█" if part > 0 else "░"  # full if it raises the score, hollow if it lowers it
        table.add_row(
            Text(printable(reason.column)),
            Text("" if reason.is_about_row else printable(shorten(reason.text or "(missing)"))),
            Text(printable(wording.short_position(reason))),
            Text(printable(wording.cell(reason.expected))),
            row.signed(reason.contribution),
            *[f"\N{LESS-THAN OR EQUAL TO} {row.number(reason.tolerance)}"] * row.has_tolerances,
            block * round(BAR_WIDTH * abs(part)),
        )
    others = row.others(MAX_REASONS)
    if others:
        added = sum(reason.contribution for reason in others)
        table.add_row(count(len(others), "other column"), "", "", "", row.signed(added))
    total = row.number(row.explanation.score)
    for name, figure in (
        ("residual", row.signed(row.explanation.residual)),
        ("baseline", row.number(row.explanation.baseline)),
        ("", "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * len(total)),
        ("score", total),
    ):
        table.add_row(name, "", "", "", figure)
    return table
