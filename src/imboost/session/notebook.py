"""Rows of a session as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from imboost.errors import SessionError, SettingError
from imboost.reporting.formatting import count, percent, printable

if TYPE_CHECKING:
    from imboost.explain import Explanation
    from imboost.session.session import Session

MAX_REASONS = 4  # columns that are shown as reasons
WEAK_REASON = 0.25  # of the largest contribution: weaker ones are not shown as reasons
MAX_ROWS = 20
MAX_LENGTH = 120  # characters of a cell
MISSING = "(missing)"

# Colours are those of the notebook, so that light and dark ones are both readable.
CELL = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;background:none;color:inherit"
SOFT = "opacity:.7"


@dataclass(frozen=True)
class ShownCell:
    """A cell; `expected` and `position` are empty where nothing is known about it."""

    column: str
    value: str
    expected: str = ""
    position: str = ""


@dataclass(frozen=True)
class ShownRow:
    """A row: a title, the cells that make it unusual, and all others."""

    title: str
    reasons: list[ShownCell]
    others: list[ShownCell]


class ShownRows:
    """Rows of a session, readable in a notebook and in a terminal.

    Parameters
    ----------
    heading : str
    rows : sequence of ShownRow
    """

    def __init__(self, heading: str, rows: Sequence[ShownRow]) -> None:
        self.heading = heading
        self.rows = list(rows)

    def __repr__(self) -> str:
        lines = [self.heading]
        for row in self.rows:
            lines += ["", printable(row.title)]
            width = max((len(printable(cell.column)) for cell in row.reasons), default=0)
            for cell in row.reasons:
                name, value = printable(cell.column).ljust(width), printable(cell.value)
                position = printable(cell.position)
                lines.append(f"  {name}  {value}, expected {printable(cell.expected)}, {position}")
            cells = [f"{printable(cell.column)} {printable(cell.value)}" for cell in row.others]
            lines += [f"  {', '.join(cells)}"] if cells else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<div><p>{escape(self.heading)}</p>{''.join(map(_row_html, self.rows))}</div>"


def show(session: Session, rows: int | Sequence[int] | None = None) -> ShownRows:
    """Return the open questions of a session, or given rows, with the reasons of their scores.

    Parameters
    ----------
    session : Session
    rows : int or sequence of int, optional
        The open questions by default.
    """
    is_given = rows is not None
    if rows is None:
        chosen = session.open_questions
    else:
        chosen = [int(row) for row in np.atleast_1d(np.asarray(rows))]
    if not chosen:
        return ShownRows("No question is open: ask() selects new ones.", [])
    n_rows = len(session.labels)
    if wrong := [row for row in chosen if not 0 <= row < n_rows]:
        raise SessionError(f"Row ids go from 0 to {n_rows - 1}, got {wrong[0]}.")
    shown = chosen[:MAX_ROWS]
    heading = count(len(chosen), "row" if is_given else "open question")
    if len(shown) < len(chosen):
        heading += f"; the first {len(shown)}"
    return ShownRows(heading, _describe(session, shown))


def _describe(session: Session, rows: list[int]) -> list[ShownRow]:
    detector = session.start().detector
    scores = detector.decision_scores_
    probabilities = detector.scores_to_proba(scores[rows])[:, 1]
    cells = _cells(session.X, rows)
    answers = session.answers
    described = []
    for number, (row, explanation) in enumerate(zip(rows, _explain(session, rows), strict=True)):
        rank = int((scores > scores[row]).sum()) + 1
        title = f"Row {row}: score {scores[row]:.4g}, rank {rank:,} of {len(scores):,}"
        title += f", probability {percent(float(probabilities[number]))}"
        title += f", answered {answers[row]}" if row in answers else ""
        reasons = _reasons(explanation, cells[number])
        named = {cell.column for cell in reasons}
        others = [
            ShownCell(name, value) for name, value in cells[number].items() if name not in named
        ]
        described.append(ShownRow(title, reasons, others))
    return described


def _explain(session: Session, rows: list[int]) -> Sequence[Explanation | None]:
    """Return explanations, or None where the detector has none."""
    explain = getattr(session.detector, "explain", None)
    if explain is None:
        return [None] * len(rows)
    try:
        found: list[Explanation] = explain(_take(session.X, rows))
    except SettingError:  # detectors that cannot attribute their scores
        return [None] * len(rows)
    return found


def _reasons(explanation: Explanation | None, cells: dict[str, str]) -> list[ShownCell]:
    if explanation is None:
        return []
    largest = max((one.contribution for one in explanation.reasons), default=0.0)
    floor = WEAK_REASON * max(largest, 0.0)
    found = [one for one in explanation.reasons if one.contribution > max(one.tolerance, floor)]
    return [
        ShownCell(one.column, cells[one.column], one.expected, one.position)
        for one in found[:MAX_REASONS]
    ]


def _take(X: Any, rows: list[int]) -> Any:
    """Return rows of an array, a data frame or an Arrow table."""
    if not hasattr(X, "columns"):
        return np.asarray(X)[rows]
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[rows].to_native()


def _cells(X: Any, rows: list[int]) -> list[dict[str, str]]:
    """Return the cells of rows as text, by column."""
    taken = _take(X, rows)
    if not hasattr(taken, "columns"):
        return [{str(name): _text(value) for name, value in enumerate(row)} for row in taken]
    import narwhals as nw

    frame = nw.from_native(taken, eager_only=True)
    return [{name: _text(value) for name, value in row.items()} for row in frame.rows(named=True)]


def _text(value: Any) -> str:
    if value is None or value != value or value == "":
        return MISSING
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}…"


def _row_html(row: ShownRow) -> str:
    head = "".join(_cell_html(name, SOFT) for name in ("column", "value", "expected", "position"))
    lines = [
        f"<tr>{_cell_html(cell.column)}{_cell_html(cell.value, 'font-weight:bold')}"
        f"{_cell_html(cell.expected)}{_cell_html(cell.position)}</tr>"
        for cell in row.reasons
    ]
    table = f"<table><tr>{head}</tr>{''.join(lines)}</table>" if lines else ""
    others = ", ".join(
        f'<span style="{SOFT}">{escape(cell.column)}</span> {escape(cell.value)}'
        for cell in row.others
    )
    return f"<p><b>{escape(row.title)}</b></p>{table}<p>{others}</p>"


def _cell_html(text: str, style: str = "") -> str:
    return f'<td style="{CELL};{style}">{escape(text)}</td>'
