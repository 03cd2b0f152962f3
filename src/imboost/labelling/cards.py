"""Builds the views of the page from a workspace."""

from __future__ import annotations

import math
from secrets import token_urlsafe

import numpy as np

from imboost.explain import Explanation
from imboost.labelling.columns import Columns
from imboost.labelling.groups import find_group
from imboost.labelling.views import (
    CellView,
    Disagreement,
    DisagreementsView,
    Group,
    GroupRow,
    HistoryEntry,
    HistoryView,
    PanelView,
    QuestionView,
    SimilarRow,
    SuspectRow,
    SuspectsView,
)
from imboost.labelling.workspace import Workspace
from imboost.labels import OUTLIER, UNLABELLED
from imboost.present import wording
from imboost.present.formatting import count, percent
from imboost.present.pictures import draw_found
from imboost.session import Answer
from imboost.session.consensus import AnnotatorAgreement
from imboost.session.state import AUDIT

N_SIMILAR = 3
HIGHEST_SCORES = "hc"  # name of the strategy in the log
PAGE_ROWS = 50
N_LIST_COLUMNS = 6  # columns of the table that the list of suspects shows


def question_view(
    workspace: Workspace, row: int, *, explain: bool = False, is_asked: bool = False
) -> QuestionView:
    """Return the card of a row.

    Parameters
    ----------
    workspace : Workspace
    row : int
    explain : bool
        Compute reasons now if they are not known yet.
    is_asked : bool
        Whether the card asks for an answer. It then leaves out the answers and notes of other
        people, so that a second opinion is independent.
    """
    snapshot, columns, session = workspace.snapshot, workspace.columns, workspace.session
    explainer = workspace.explainer
    explanation = explainer.explain(row) if explain else explainer.get(row)
    at = session.rows.position(row)
    reasons, others = _cells(workspace, at, explanation)
    shown = [cell.column for cell in reasons if not cell.is_row]
    is_open = row in session.open_questions
    score = float(snapshot.scores[at])
    people = {} if is_asked else session.answers_about(row)
    notes = [entry.note for entry in people.values() if entry.note]
    return QuestionView(
        row=row,
        name=columns.row_name(at),
        request=token_urlsafe(12),
        score=score,
        rank=int(snapshot.ranks[at]),
        n_rows=session.n_rows,
        probability=float(snapshot.probabilities[at]),
        is_outlier=score > snapshot.threshold,
        origin=_origin(workspace, row, is_open, is_asked),
        reasons=reasons,
        others=others,
        score_picture=snapshot.picture.draw(
            "Scores of all rows, with this row marked", threshold=snapshot.threshold, mark=score
        ),
        similar=_similar(workspace, at),
        group=_group(workspace, at, shown, explanation) if explanation else None,
        answers=[(who, entry.answer) for who, entry in people.items()],
        note=notes[-1] if notes else "",
        is_open=is_open,
        is_explained=explanation is not None,
    )


def _origin(workspace: Workspace, row: int, is_open: bool, is_asked: bool) -> str:
    """Say why a row is asked."""
    if not is_open and is_asked:
        return "A second opinion: somebody else has answered this row."
    if not is_open:
        return "Opened from a list; your answer counts like any other."
    question = workspace.session.question(row)
    if question is not None and question.strategy == AUDIT:
        return "Drawn at random, to measure how good the decisions are."
    if question is not None and question.strategy == HIGHEST_SCORES:
        return "Asked because its score is among the highest."
    return "Selected because its answer improves the model most."


def _cells(
    workspace: Workspace, at: int, explanation: Explanation | None
) -> tuple[list[CellView], list[CellView]]:
    """Return the cells that make a row unusual, and all others in the order of the table."""
    cells = workspace.columns.cells(at)
    reasons = {} if explanation is None else _reasons(workspace, at, explanation, cells)
    others = [
        CellView(column=name, value=value) for name, value in cells.items() if name not in reasons
    ]
    return list(reasons.values()), others


def _reasons(
    workspace: Workspace, at: int, explanation: Explanation, cells: dict[str, str]
) -> dict[str, CellView]:
    """Return the cells that make a row unusual by their column, the strongest first."""
    largest = max((reason.contribution for reason in explanation.reasons), default=0.0)
    views: dict[str, CellView] = {}
    for reason in explanation.main_reasons:
        if reason.is_about_row:
            views[reason.column] = CellView(
                column="the whole row",
                value="",
                position=wording.position(reason),
                is_row=True,
            )
            continue
        value = cells[reason.column]
        label = f"{reason.column}: {value or 'missing'}, {wording.position(reason)}"
        views[reason.column] = CellView(
            column=reason.column,
            value=value,
            expected=_rounded(wording.cell(reason.expected)),
            position=wording.position(reason),
            strength=max(reason.contribution, 0.0) / largest if largest > 0 else 0.0,
            picture=workspace.columns.used[reason.column].draw(
                at, wording.cell(reason.expected), label
            ),
        )
    return views


def _rounded(text: str) -> str:
    """Write a number with four significant digits, or none after the point; other text as it is.

    >>> _rounded("12.345678"), _rounded("north"), _rounded("123456.7")
    ('12.35', 'north', '123,457')
    """
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def _similar(workspace: Workspace, at: int) -> list[SimilarRow]:
    """Return the answered rows nearest to the row at a position."""
    session, columns, points = workspace.session, workspace.columns, workspace.points
    known = session.labels
    known[at] = UNLABELLED
    labelled = np.flatnonzero(known != UNLABELLED)
    distances = np.square(points[labelled] - points[at]).sum(axis=1)
    nearest = labelled[np.argsort(distances, kind="stable")[:N_SIMILAR]].tolist()
    return [
        SimilarRow(
            row=row,
            name=columns.row_name(other),
            answer=Answer.OUTLIER if known[other] == OUTLIER else Answer.INLIER,
            differences=[
                (name, columns.cell(other, name))
                for name in columns.largest_differences(at, other)
            ],
        )
        for row, other in zip(session.rows.ids(nearest), nearest, strict=True)
    ]


def _group(
    workspace: Workspace, at: int, shown: list[str], explanation: Explanation
) -> Group | None:
    """Return unanswered rows like a row."""
    snapshot, columns = workspace.snapshot, workspace.columns
    reason, found = find_group(
        columns, at, shown, snapshot.scores, snapshot.suspects, _rules(explanation)
    )
    session = workspace.session
    positions = [other for other in found if not session.answers_about(*session.rows.ids([other]))]
    if not positions:
        return None
    names = shown[:4] or columns.names[:4]
    rows, scores = session.rows.ids(positions), snapshot.scores[positions].tolist()
    values = _row_values(columns, positions, names)
    shown_rows = zip(rows, columns.row_names(positions), scores, values, strict=True)
    return Group(reason=reason, columns=names, rows=[GroupRow(*one) for one in shown_rows])


def _rules(explanation: Explanation) -> set[str]:
    """Return the columns whose reason is a broken rule."""
    return {
        reason.column for reason in explanation.main_reasons if reason.rule or reason.is_about_row
    }


def _row_values(columns: Columns, rows: list[int], names: list[str]) -> list[list[str]]:
    """Return the cells of rows in some columns, row by row."""
    cells = [columns.texts(rows, name) for name in names]
    return [[column[at] for column in cells] for at in range(len(rows))]


def panel_view(workspace: Workspace) -> PanelView:
    """Return the side panel."""
    session, snapshot = workspace.session, workspace.snapshot
    progress = session.progress()
    counts, decided = progress.counts, progress.is_outlier
    found = f"{count(sum(decided), 'outlier')} in {count(len(decided), 'answer')}"
    return PanelView(
        round=snapshot.round,
        n_open=progress.n_open,
        n_answers=counts.total(),
        n_outliers=counts[Answer.OUTLIER],
        n_inliers=counts[Answer.INLIER],
        n_unsure=counts[Answer.UNSURE],
        n_skipped=counts[Answer.SKIP],
        found_picture=draw_found(decided, found),
        score_picture=snapshot.picture.draw(
            "Scores of all rows, with the threshold", threshold=snapshot.threshold
        ),
        n_predicted=snapshot.n_called,
        precision=snapshot.precision,
        missed=snapshot.missed,
        is_threshold_estimated=snapshot.detector.decision_.is_estimated,
        advice=snapshot.advice,
        should_stop=snapshot.should_stop,
        training=workspace.training,
        until_training=max(workspace.n_questions - workspace.n_new_answers, 0),
        n_disagreements=len(workspace.doubtful()) + progress.n_conflicts,
        agreement=_write_agreement(progress.agreement),
        error=workspace.error,
    )


def _write_agreement(agreement: AnnotatorAgreement) -> str:
    """Write how often two people agree; nothing if no row has two answers."""
    if agreement.n_rows == 0:
        return ""
    text = f"{percent(agreement.fraction)} of {count(agreement.n_rows, 'row')}"
    return text if math.isnan(agreement.kappa) else f"{text}, kappa {agreement.kappa:.2f}"


def suspects_view(
    workspace: Workspace,
    *,
    sort: str = "score",
    descending: bool = True,
    column: str = "",
    value: str = "",
    answered: str = "all",
    page: int = 1,
) -> SuspectsView:
    """Return a page of the rows, by score or by a column, filtered by the text of their cells."""
    snapshot, columns = workspace.snapshot, workspace.columns
    answers = workspace.session.answers
    keep = np.ones(len(snapshot.scores), dtype=bool)
    if value:
        keep = columns.contain(value, [column] if column in columns.names else columns.names)
    if answered in ("answered", "unanswered"):
        has_answer = np.zeros(len(keep), dtype=bool)
        answered_rows = [*answers, *workspace.session.conflicts]
        has_answer[workspace.session.rows.positions(answered_rows)] = True
        keep &= has_answer if answered == "answered" else ~has_answer
    rows = np.flatnonzero(keep)
    sort = sort if sort in columns.names else "score"
    keys = snapshot.scores if sort == "score" else columns.sort_keys(sort)
    order = np.argsort(-keys[rows] if descending else keys[rows], kind="stable")
    n_pages = max(1, math.ceil(len(rows) / PAGE_ROWS))
    page = min(max(page, 1), n_pages)
    shown = rows[order][(page - 1) * PAGE_ROWS : page * PAGE_ROWS].tolist()
    names = list(columns.used)[:N_LIST_COLUMNS]
    for extra in (sort, column):
        if extra in columns.names and extra not in names:
            names.append(extra)
    return SuspectsView(
        rows=[
            SuspectRow(
                row=row,
                name=row_name,
                rank=int(snapshot.ranks[at]),
                score=float(snapshot.scores[at]),
                probability=float(snapshot.probabilities[at]),
                is_outlier=bool(snapshot.scores[at] > snapshot.threshold),
                answer=str(answers.get(row, "")),
                values=values,
            )
            for row, at, row_name, values in zip(
                workspace.session.rows.ids(shown),
                shown,
                columns.row_names(shown),
                _row_values(columns, shown, names),
                strict=True,
            )
        ],
        columns=names,
        all_columns=columns.names,
        sort=sort,
        descending=descending,
        column=column,
        value=value,
        answered=answered,
        page=page,
        n_pages=n_pages,
        n_rows=len(rows),
    )


def history_view(workspace: Workspace, page: int = 1) -> HistoryView:
    """Return a page of the history, newest first."""
    session = workspace.session
    entries = list(session.history)
    n_pages = max(1, math.ceil(len(entries) / PAGE_ROWS))
    page = min(max(page, 1), n_pages)
    newest = list(enumerate(entries, 1))[::-1][(page - 1) * PAGE_ROWS : page * PAGE_ROWS]
    return HistoryView(
        entries=[
            HistoryEntry(
                number=number,
                row=entry.row,
                name=workspace.row_name(entry.row),
                answer=str(entry.answer),
                who=entry.who,
                time=entry.when.astimezone().strftime("%Y-%m-%d %H:%M:%S"),
                kind="resolution" if entry.resolves else "answer",
                note=entry.note,
                seconds="" if entry.seconds is None else f"{entry.seconds:.0f} s",
                is_current=session.answers_about(entry.row).get(entry.who) is entry,
            )
            for number, entry in newest
        ],
        page=page,
        n_pages=n_pages,
        n_entries=len(entries),
    )


def disagreements_view(workspace: Workspace) -> DisagreementsView:
    """Return answers that the model contradicts, and rows about which people disagree."""
    return DisagreementsView(
        doubtful=[
            Disagreement(row, workspace.row_name(row), _answers_of(workspace, row), probability)
            for row, probability in workspace.doubtful()
        ],
        conflicts=[
            Disagreement(row, workspace.row_name(row), _answers_of(workspace, row), None)
            for row in workspace.session.conflicts
        ],
    )


def _answers_of(workspace: Workspace, row: int) -> list[tuple[str, Answer]]:
    """Return each person's answer about a row."""
    people = workspace.session.answers_about(row)
    return [(who, entry.answer) for who, entry in people.items()]
