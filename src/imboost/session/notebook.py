"""Rows of a session as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from imboost.errors import SettingError
from imboost.present import wording
from imboost.present.formatting import count, cut, number, percent, printable
from imboost.present.notebook_tables import notebook_pairs, notebook_table, notebook_title

if TYPE_CHECKING:
    from imboost.explain import Explanation
    from imboost.session.session import Session

MAX_ROWS = 20
MAX_QUESTIONS = 3  # open questions that a session shows of itself
MAX_LENGTH = 120  # characters of a cell
MISSING = "(missing)"


class ShownCell(NamedTuple):
    """A cell; `expected` and `position` are empty where nothing is known about it."""

    column: str
    value: str
    expected: str = ""
    position: str = ""


class ShownRow(NamedTuple):
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
                expected = f"expected {cell.expected}" if cell.expected else ""
                facts = ", ".join(filter(None, (cell.value, expected, cell.position)))
                lines.append(f"  {printable(cell.column).ljust(width)}  {printable(facts)}")
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
    given = None if rows is None else np.atleast_1d(np.asarray(rows)).tolist()
    chosen = session.open_questions if given is None else list(map(int, given))
    if not chosen:
        return ShownRows("No question is open: ask() selects new ones.", [])
    session.rows.positions(chosen)  # raises if a row does not exist
    session.start()
    shown = chosen[:MAX_ROWS]
    heading = count(len(chosen), "open question" if given is None else "row")
    if len(shown) < len(chosen):
        heading += f"; the first {len(shown)}"
    return ShownRows(heading, _describe(session, shown))


def session_html(session: Session) -> str:
    """Return a session as a notebook shows it: progress, decisions and the first open questions.

    Nothing is trained for it.
    """
    counts, n_rows = session.counts, session.n_rows
    given = ", ".join(f"{number:,} {answer.value}" for answer, number in counts.most_common())
    pairs = [
        ("round", str(session.round)),
        ("answers", f"{counts.total():,} ({given})" if given else "none"),
        ("open questions", f"{len(session.open_questions):,}"),
    ]
    if session.conflicts:
        pairs.append(("conflicts", f"{len(session.conflicts):,}"))
    if not hasattr(session.detector, "decision_scores_"):
        pairs.append(("model", "not trained yet: ask() trains it"))
        return f"<div>{_heading(session, n_rows)}{notebook_pairs(pairs)}</div>"
    weights = 1.0 if session.weights is None else session.weights
    n_predicted = round(float((session.detector.labels_ * weights).sum()))
    threshold = number(session.detector.threshold_)
    pairs.append(("predicted outliers", f"{number(n_predicted)}, above {threshold}"))
    questions = session.open_questions[:MAX_QUESTIONS]
    rows = "".join(map(_row_html, _describe(session, questions))) if questions else ""
    return f"<div>{_heading(session, n_rows)}{notebook_pairs(pairs)}{rows}</div>"


def _heading(session: Session, n_rows: int) -> str:
    detector = getattr(session.detector, "detector", None) or type(session.detector).__name__
    name = detector if isinstance(detector, str) else type(detector).__name__
    return notebook_title(f"Session on {count(n_rows, 'row')} with {name}")


def _describe(session: Session, rows: list[int]) -> list[ShownRow]:
    detector = session.detector
    positions = session.rows.positions(rows)
    scores = detector.decision_scores_[positions]
    probabilities = detector.decision_.probability(scores)
    cells = _cells(session.X, positions)
    answers = session.answers
    described = []
    explanations = _explain(session, positions)
    for at, (row, explanation) in enumerate(zip(rows, explanations, strict=True)):
        score, rank = session.score_and_rank(row)
        title = f"Row {row}: score {number(score)}, rank {rank:,} of {session.n_rows:,}"
        title += f", probability {percent(float(probabilities[at]))}"
        title += f", answered {answers[row]}" if row in answers else ""
        reasons = [
            ShownCell(
                one.column,
                cells[at].get(one.column, ""),
                wording.cell(one.expected),
                wording.position(one),
            )
            for one in (explanation.main_reasons if explanation else [])
        ]
        named = {cell.column for cell in reasons}
        others = [ShownCell(name, value) for name, value in cells[at].items() if name not in named]
        described.append(ShownRow(title, reasons, others))
    return described


def _explain(session: Session, rows: list[int]) -> Sequence[Explanation | None]:
    """Return explanations, or None where the detector has none."""
    explain = getattr(session.detector, "explain", None)
    with suppress(SettingError):  # detectors that cannot attribute their scores
        if explain is not None:
            found: list[Explanation] = explain(_take(session.X, rows))
            return found
    return [None] * len(rows)


def _take(X: Any, rows: list[int]) -> Any:
    """Return rows of an array, a data frame or an Arrow table."""
    if not hasattr(X, "columns"):
        return np.asarray(X)[rows]
    return nw.from_native(X, eager_only=True)[rows].to_native()


def _cells(X: Any, rows: list[int]) -> list[dict[str, str]]:
    """Return the cells of rows as text, by column."""
    taken = _take(X, rows)
    if not hasattr(taken, "columns"):
        return [{str(name): _text(value) for name, value in enumerate(row)} for row in taken]
    frame = nw.from_native(taken, eager_only=True)
    return [{name: _text(value) for name, value in row.items()} for row in frame.rows(named=True)]


def _text(value: Any) -> str:
    if value is None or value != value or value == "":
        return MISSING
    return cut(f"{value:.6g}" if isinstance(value, float) else str(value), MAX_LENGTH)


def _row_html(row: ShownRow) -> str:
    table = notebook_table(ShownCell._fields, row.reasons, bold=1)
    others = notebook_pairs([(cell.column, cell.value) for cell in row.others])
    return f"{notebook_title(row.title)}{table}{others}"
