"""Builds the views of the page from a workspace."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from secrets import token_urlsafe

import numpy as np

from imboost.explain import Explanation
from imboost.labelling.groups import find_group
from imboost.labelling.views import (
    Disagreement,
    DisagreementsView,
    Group,
    HistoryEntry,
    HistoryView,
    PanelView,
    QuestionView,
    SuspectsView,
)
from imboost.labelling.workspace import Workspace
from imboost.labels import OUTLIER, UNLABELLED
from imboost.present.formatting import count, percent
from imboost.present.pictures import draw_found
from imboost.present.rows import UNEXPLAINED, CellView, RowView
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
    snapshot, session = workspace.snapshot, workspace.session
    explainer = workspace.explainer
    explanation = explainer.explain(row) if explain else explainer.get(row)
    at = session.rows.position(row)
    [shown] = _rows(workspace, [at])
    is_open = row in session.open_questions
    people = {} if is_asked else session.answers_about(row)
    notes = [entry.note for entry in people.values() if entry.note]
    return QuestionView(
        **{
            **vars(shown),
            "cells": _cells(workspace, at, explanation),
            "explanation": explanation or UNEXPLAINED,
        },
        request=token_urlsafe(12),
        n_rows=session.n_rows,
        origin=_origin(workspace, row, is_open, is_asked),
        score_picture=snapshot.picture.draw(
            "Scores of all rows, with this row marked",
            threshold=snapshot.threshold,
            mark=shown.score,
        ),
        similar=_similar(workspace, at),
        group=_group(workspace, at, explanation) if explanation else None,
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


def _rows(
    workspace: Workspace,
    positions: list[int],
    names: Sequence[str] = (),
    answers: Mapping[int, Answer] | None = None,
) -> list[RowView]:
    """Return rows with the cells of some columns."""
    snapshot, columns = workspace.snapshot, workspace.columns
    texts = [columns.texts(positions, name) for name in names]
    rows = workspace.session.rows.ids(positions)
    return [
        RowView(
            row=row,
            score=float(snapshot.scores[at]),
            rank=int(snapshot.ranks[at]),
            probability=float(snapshot.probabilities[at]),
            is_outlier=bool(snapshot.scores[at] > snapshot.threshold),
            answer=(answers or {}).get(row),
            name=row_name,
            cells=[
                CellView(column=name, text=column[number] or None)
                for name, column in zip(names, texts, strict=True)
            ],
        )
        for number, (row, at, row_name) in enumerate(
            zip(rows, positions, columns.row_names(positions), strict=True)
        )
    ]


def _cells(workspace: Workspace, at: int, explanation: Explanation | None) -> list[CellView]:
    """Return the cells of a row, with a picture of those that make it unusual."""
    columns = workspace.columns
    main = explanation.main_reasons if explanation else []
    reasons = {reason.column: reason for reason in main}
    cells = []
    for name, text in columns.cells(at).items():
        cell = CellView(column=name, text=text or None, reason=reasons.get(name))
        if cell.reason is not None:
            label = f"{name}: {text or 'missing'}, {cell.position}"
            picture = columns.used[name].draw(at, cell.reason.expected, label)
            cell = replace(cell, picture=picture)
        cells.append(cell)
    return cells


def _similar(workspace: Workspace, at: int) -> list[RowView]:
    """Return the answered rows nearest to the row at a position."""
    session, columns, points = workspace.session, workspace.columns, workspace.points
    known = session.labels
    known[at] = UNLABELLED
    labelled = np.flatnonzero(known != UNLABELLED)
    distances = np.square(points[labelled] - points[at]).sum(axis=1)
    similar: list[RowView] = []
    for other in labelled[np.argsort(distances, kind="stable")[:N_SIMILAR]].tolist():
        answer = Answer.OUTLIER if known[other] == OUTLIER else Answer.INLIER
        names = columns.largest_differences(at, other)
        similar += _rows(workspace, [other], names, {session.rows.ids([other])[0]: answer})
    return similar


def _group(workspace: Workspace, at: int, explanation: Explanation) -> Group | None:
    """Return unanswered rows like a row."""
    snapshot, columns, session = workspace.snapshot, workspace.columns, workspace.session
    main = explanation.main_reasons
    shown = [reason.column for reason in main if not reason.is_about_row]
    broken = {reason.column for reason in main if reason.rule or reason.is_about_row}
    reason, found = find_group(columns, at, shown, snapshot.scores, snapshot.suspects, broken)
    positions = [other for other in found if not session.answers_about(*session.rows.ids([other]))]
    if not positions:
        return None
    names = shown[:4] or columns.names[:4]
    return Group(reason, names, _rows(workspace, positions, names))


def panel_view(workspace: Workspace) -> PanelView:
    """Return the side panel."""
    session, snapshot = workspace.session, workspace.snapshot
    progress = session.progress()
    counts = progress.counts
    n_labelled = counts[Answer.OUTLIER] + counts[Answer.INLIER]
    found = f"{count(counts[Answer.OUTLIER], 'outlier')} in {count(n_labelled, 'answer')}"
    return PanelView(
        round=snapshot.round,
        n_open=progress.n_open,
        counts=counts,
        found_picture=draw_found(progress.is_outlier, found),
        score_picture=snapshot.picture.draw(
            "Scores of all rows, with the threshold", threshold=snapshot.threshold
        ),
        n_predicted=snapshot.n_predicted,
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
    page, n_pages = _page_of(page, len(rows))
    shown = rows[order][(page - 1) * PAGE_ROWS : page * PAGE_ROWS].tolist()
    names = list(columns.used)[:N_LIST_COLUMNS]
    for extra in (sort, column):
        if extra in columns.names and extra not in names:
            names.append(extra)
    return SuspectsView(
        rows=_rows(workspace, shown, names, answers),
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
    given = session.history
    page, n_pages = _page_of(page, len(given))
    end = len(given) - (page - 1) * PAGE_ROWS
    start = max(end - PAGE_ROWS, 0)
    newest = reversed(list(enumerate(given[start:end], start + 1)))
    entries = [
        HistoryEntry(
            number=number,
            name=workspace.row_name(entry.row),
            entry=entry,
            is_current=session.answers_about(entry.row).get(entry.who) is entry,
        )
        for number, entry in newest
    ]
    return HistoryView(entries, page, n_pages, len(given))


def _page_of(page: int, n: int) -> tuple[int, int]:
    """Return the nearest page that a list of `n` entries has, and the number of its pages."""
    n_pages = max(1, math.ceil(n / PAGE_ROWS))
    return min(max(page, 1), n_pages), n_pages


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
