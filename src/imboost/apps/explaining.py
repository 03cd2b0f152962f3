"""`imboost explain`: why rows score as they do, on the terminal and as a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from imboost.apps.chosen_rows import BestRows, ChosenRows, find_rows
from imboost.apps.fitting import WIDE
from imboost.apps.model_folder import load_model
from imboost.apps.progress import stage
from imboost.apps.scoring_files import identifiers, watched
from imboost.apps.streaming import score_pieces
from imboost.apps.terminal import say
from imboost.apps.whole_files import whole
from imboost.data.table_files import TableFiles
from imboost.detectors.table import TableDetector
from imboost.errors import SettingError
from imboost.explain import Explanation, Reason
from imboost.reporting import render

MOST_REASONS = 8
"""Columns that are shown for a row; the others are summed up."""

BAR_WIDTH = 10
MOST_DIGITS = 8
"""Longer numbers are rounded for a reader."""

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
        return max((abs(reason.share) for reason in self.explanation.reasons), default=0.0) or 1.0

    def write(self, share: float) -> str:
        """Write a share with as many digits as the largest one needs."""
        n_digits = max(3, 1 - math.floor(math.log10(self.largest_share)))
        return f"{share:+.{n_digits}f}".replace("-", "\N{MINUS SIGN}")


def shorten(value: str | None) -> str | None:
    """Write a cell with six digits if it is a long number.

    >>> shorten("29.357922354011"), shorten("x51")
    ('29.3579', 'x51')
    """
    if value is None or len(value) <= MOST_DIGITS:
        return value
    try:
        return f"{float(value):.6g}"
    except ValueError:
        return value


def explain_file(
    model: Path, data: Path, *, rows: Sequence[str], top: int, out: Path | None
) -> None:
    """Explain the rows asked for, or those with the highest scores."""
    files = TableFiles.find(data)
    detector = load_model(model)
    names = identifiers(detector)
    identifier = names[0] if names else None
    if rows:
        with stage(f"looking for rows in {data}"):
            chosen = find_rows(files, identifier, rows)
    else:
        chosen = _highest_scores(detector, files, top)
    explained = explain_rows(detector, chosen, identifier)
    console = Console()
    for row in explained:
        _print_row(console, row, detector.threshold_)
    if out is not None:
        context = {
            "rows": explained,
            "threshold": detector.threshold_,
            "data": data.name,
            "n_reasons": MOST_REASONS,
            "shorten": shorten,
        }
        with whole(out) as partial:
            partial.write_text(render("explain.html.j2", context), encoding="utf-8")
        say(f"Page: {out}")


def explain_rows(
    detector: TableDetector, chosen: ChosenRows, identifier: str | None
) -> list[ExplainedRow]:
    """Explain a few rows, in their order."""
    check_explainable(detector)
    with stage(f"explaining {len(chosen.numbers)} rows"):
        explanations = detector.explain(chosen.table)
    return [
        ExplainedRow(name, bool(told.score > detector.threshold_), told)
        for name, told in zip(chosen.names(identifier), explanations, strict=True)
    ]


def check_explainable(detector: TableDetector) -> None:
    """Raise if explaining a row would take too long."""
    n_columns = len(detector.encoder_.layout.sources)
    if n_columns > WIDE:
        raise SettingError(
            f"The model looks at {n_columns:,} columns; rows are explained by up to {WIDE}."
        )


def _highest_scores(detector: TableDetector, files: TableFiles, n: int) -> ChosenRows:
    best = BestRows(n)
    for piece in watched(score_pieces(detector, files), files.n_rows):
        best.add(piece.first, piece.table, piece.verdicts.scores)
    return best.chosen()


def _print_row(console: Console, row: ExplainedRow, threshold: float) -> None:
    told = row.explanation
    called = "called an outlier" if row.is_outlier else "called an inlier"
    console.print(
        Text.assemble(
            (row.name, "bold"),
            f": score {told.score:.4g}, {called} (threshold {threshold:.4g}, "
            f"a usual row has {told.base:.4g})",
        ),
        highlight=False,
        soft_wrap=True,
    )
    table = Table()
    for heading in ("column", "value", "of usual rows", "usual"):
        table.add_column(heading, overflow="fold")
    table.add_column("adds", justify="right", no_wrap=True)
    table.add_column("", width=BAR_WIDTH)
    for reason in row.first(MOST_REASONS):
        table.add_row(
            Text(reason.column),
            Text(shorten(reason.value) or NOTHING),
            reason.where.removesuffix(" of usual rows"),
            Text(reason.usual),
            row.write(reason.share),
            "█" * round(BAR_WIDTH * max(reason.share, 0.0) / row.largest_share),
        )
    if others := row.others(MOST_REASONS):
        total = row.write(sum(reason.share for reason in others))
        table.add_row(f"{len(others)} other columns", "", "", "", total, "")
    console.print(table, highlight=False)
    if not told.is_exact:
        say("What columns add is estimated.")
