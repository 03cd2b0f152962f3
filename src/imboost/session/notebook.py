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
    from imboost.explain import Explanation
    from imboost.session.session import Session

MAX_ROWS = 20
MAX_QUESTIONS = 3  # open questions that a session shows of itself
MAX_LENGTH = 120  # characters of a cell
MISSING = "(missing)"


class ShownRows:
    """Rows of a session, readable in a notebook and in a terminal.

    Parameters
    ----------
    heading : str
    rows : sequence of RowView
    n_rows : int
        Number of rows of the complete table.
    """

    def __init__(self, heading: str, rows: Sequence[RowView], n_rows: int = 0) -> None:
        self.heading = heading
        self.rows = list(rows)
        self._n_rows = n_rows

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
    return ShownRows(heading, _views(session, shown), session.n_rows)


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
    views = _views(session, questions) if questions else []
    rows = "".join(_row_html(view, n_rows) for view in views)
    return f"<div>{_heading(session, n_rows)}{notebook_pairs(pairs)}{rows}</div>"


def _heading(session: Session, n_rows: int) -> str:
    detector = getattr(session.detector, "detector", None) or type(session.detector).__name__
    name = detector if isinstance(detector, str) else type(detector).__name__
    return notebook_title(f"Session on {count(n_rows, 'row')} with {name}")


def _views(session: Session, rows: list[int]) -> list[RowView]:
    detector = session.detector
    positions = session.rows.positions(rows)
    scores = detector.decision_scores_[positions]
    probabilities = detector.decision_.probability(scores)
    found = zip(rows, _explain(session, positions), _cells(session.X, positions), strict=True)
    views = []
    for at, (row, explanation, texts) in enumerate(found):
        reasons = {reason.column: reason for reason in explanation.main_reasons}
        view = RowView(
            row=row,
            score=float(scores[at]),
            rank=session.score_and_rank(row)[1],
            probability=float(probabilities[at]),
            is_outlier=bool(scores[at] > detector.threshold_),
            answer=session.answers.get(row),
            name=f"row {row}",
            cells=[
                CellView(column=name, text=text, reason=reasons.get(name))
                for name, text in texts.items()
            ],
            explanation=explanation,
        )
        views.append(view)
    return views


def _explain(session: Session, rows: list[int]) -> Sequence[Explanation]:
    """Return explanations, as far as the detector has them."""
    with suppress(SettingError):  # detectors that cannot attribute their scores
        if explain := getattr(session.detector, "explain", None):
            found: list[Explanation] = explain(_take(session.X, rows))
            return found
    return [UNEXPLAINED] * len(rows)


def _take(X: Any, rows: list[int]) -> Any:
    """Return rows of an array, a data frame or an Arrow table."""
    if not hasattr(X, "columns"):
        return np.asarray(X)[rows]
    return nw.from_native(X, eager_only=True)[rows].to_native()


def _cells(X: Any, rows: list[int]) -> list[dict[str, str | None]]:
    """Return the cells of rows as text, by column."""
    taken = _take(X, rows)
    if not hasattr(taken, "columns"):
        return [{str(name): _write(value) for name, value in enumerate(row)} for row in taken]
    frame = nw.from_native(taken, eager_only=True)
    return [{name: _write(value) for name, value in row.items()} for row in frame.rows(named=True)]


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
