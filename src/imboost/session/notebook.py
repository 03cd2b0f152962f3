"""Rows of a session as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from imboost.errors import SettingError
from imboost.present.formatting import count, cut, number, percent, printable
from imboost.present.notebook_tables import notebook_pairs, notebook_table, notebook_title
from imboost.present.rows import UNEXPLAINED, CellView, RowView

if TYPE_CHECKING:
    from imboost.session.session import Session

MAX_ROWS = 20
MAX_QUESTIONS = 3  # open questions that a session shows of itself
MAX_LENGTH = 120  # characters of a cell
MISSING = "(missing)"


class ShownRows:
    """Rows of a session, whose table has `n_rows`, readable in a notebook and in a terminal."""

    def __init__(self, heading: str, rows: Sequence[RowView], n_rows: int = 0) -> None:
        self.heading, self.rows, self._n_rows = heading, list(rows), n_rows

    def __repr__(self) -> str:
        lines = [self.heading]
        for row in self.rows:
            lines += ["", printable(_title(row, self._n_rows))]
            unusual = [(printable(cell.column), cell) for cell in row.unusual_cells]
            width = max((len(column) for column, _ in unusual), default=0)
            for column, cell in unusual:
                expected = f"expected {cell.expected}" if cell.expected else ""
                facts = ", ".join(filter(None, (_text(cell), expected, cell.position)))
                lines.append(f"  {column.ljust(width)}  {printable(facts)}")
            cells = [
                f"{printable(cell.column)} {printable(_text(cell))}" for cell in row.other_cells
            ]
            lines += [f"  {', '.join(cells)}"] if cells else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(_row_html(row, self._n_rows) for row in self.rows)
        return f"<div><p>{escape(self.heading)}</p>{rows}</div>"


def show(session: Session, rows: int | Sequence[int] | None = None) -> ShownRows:
    """Return given rows of a session, or its open questions, with the reasons of their scores."""
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
    return ShownRows(heading, _views(session, shown), session.n_rows)


def session_html(session: Session) -> str:
    """Return a session as a notebook shows it: progress, decisions and the first open questions.

    Nothing is trained for it.
    """
    counts, n_rows = session.counts, session.n_rows
    detector = getattr(session.detector, "detector", None) or type(session.detector).__name__
    name = detector if isinstance(detector, str) else type(detector).__name__
    heading = notebook_title(f"Session on {count(n_rows, 'row')} with {name}")
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
        return f"<div>{heading}{notebook_pairs(pairs)}</div>"
    weights = 1.0 if session.weights is None else session.weights
    n_predicted = round(float((session.detector.labels_ * weights).sum()))
    threshold = number(session.detector.threshold_)
    pairs.append(("predicted outliers", f"{number(n_predicted)}, above {threshold}"))
    questions = session.open_questions[:MAX_QUESTIONS]
    views = _views(session, questions) if questions else []
    rows = "".join(_row_html(view, n_rows) for view in views)
    return f"<div>{heading}{notebook_pairs(pairs)}{rows}</div>"


def _views(session: Session, rows: list[int]) -> list[RowView]:
    detector = session.detector
    positions = session.rows.positions(rows)
    taken, cells = _take(session.X, positions)
    explanations = [UNEXPLAINED] * len(rows)
    with suppress(SettingError):  # detectors that cannot attribute their scores
        if explain := getattr(detector, "explain", None):
            explanations = explain(taken)
    scores, ranks = detector.decision_scores_[positions], session.ranks[positions]
    probabilities = detector.decision_.probability(scores)
    views = []
    for at, (row, explanation, texts) in enumerate(zip(rows, explanations, cells, strict=True)):
        reasons = {reason.column: reason for reason in explanation.main_reasons}
        view = RowView(
            row=row,
            score=float(scores[at]),
            rank=int(ranks[at]),
            probability=float(probabilities[at]),
            is_outlier=bool(scores[at] > detector.threshold_),
            answer=session.answers.get(row),
            name=f"row {row}",
            cells=[
                CellView(column=str(name), text=_write(value), reason=reasons.get(str(name)))
                for name, value in texts.items()
            ],
            explanation=explanation,
        )
        views.append(view)
    return views


def _take(X: Any, rows: list[int]) -> tuple[Any, list[dict[Any, Any]]]:
    """Return rows of an array, a data frame or an Arrow table, and their cells by column."""
    if not hasattr(X, "columns"):
        taken = np.asarray(X)[rows]
        return taken, [dict(enumerate(row)) for row in taken]
    frame = nw.from_native(X, eager_only=True)[rows]
    return frame.to_native(), list(frame.rows(named=True))


def _write(value: Any) -> str | None:
    if value is None or value != value or value == "":
        return None
    return cut(f"{value:.6g}" if isinstance(value, float) else str(value), MAX_LENGTH)


def _title(row: RowView, n_rows: int) -> str:
    title = f"Row {row.row}: score {number(row.score)}, rank {row.rank or 0:,} of {n_rows:,}"
    answered = f", answered {row.answer}" if row.answer else ""
    return f"{title}, probability {percent(row.probability)}{answered}"


def _text(cell: CellView) -> str:
    return "" if cell.is_row else cell.text or MISSING


def _row_html(row: RowView, n_rows: int) -> str:
    reasons = [
        (cell.column, _text(cell), cell.expected, cell.position) for cell in row.unusual_cells
    ]
    table = notebook_table(("column", "value", "expected", "position"), reasons, bold=1)
    others = notebook_pairs([(cell.column, _text(cell)) for cell in row.other_cells])
    return f"{notebook_title(_title(row, n_rows))}{table}{others}"
