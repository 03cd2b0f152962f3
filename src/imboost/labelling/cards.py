"""The row in question and the side panel, as the page and the terminal show them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from secrets import token_urlsafe
from typing import Any

import numpy as np

from imboost.explain import Explanation
from imboost.labelling.columns import find_group
from imboost.labelling.workspace import Workspace
from imboost.labels import OUTLIER, UNLABELLED
from imboost.present.formatting import count, percent
from imboost.present.pictures import draw_found
from imboost.present.rows import UNEXPLAINED, CellView, QuestionView, RowGroup, RowView
from imboost.session import AnnotatorAgreement, Answer
from imboost.session.state import AUDIT

N_SIMILAR = 3
HIGHEST_SCORES = "hc"  # name of the strategy in the log


def question_view(
    workspace: Workspace, row: int, *, explain: bool = False, is_asked: bool = False
) -> QuestionView:
    """Return the card of a row; `explain` computes reasons that are not known yet.

    A card that asks for an answer leaves out the answers and notes of other people, so that a
    second opinion is independent.
    """
    snapshot, session = workspace.snapshot, workspace.session
    explanation = snapshot.explain(row) if explain else snapshot.explanations.get(row)
    at = session.rows.position(row)
    [shown] = row_views(workspace, [at])
    people = {} if is_asked else session.answers_about(row)
    return QuestionView(
        **{
            **vars(shown),
            "cells": _cells(workspace, at, explanation),
            "explanation": explanation or UNEXPLAINED,
        },
        request=token_urlsafe(12),
        n_rows=session.n_rows,
        origin=_origin(workspace, row, is_asked),
        score_picture=snapshot.draw("Scores of all rows, with this row marked", mark=shown.score),
        similar=_similar(workspace, at),
        group=_group(workspace, at, explanation) if explanation else None,
        answers=[(who, entry.answer) for who, entry in people.items()],
        note=next((entry.note for entry in reversed(people.values()) if entry.note), ""),
    )


def _origin(workspace: Workspace, row: int, is_asked: bool) -> str:
    """Say why a row is asked."""
    question = workspace.session.question(row)
    if question is None or row not in workspace.session.open_questions:
        if is_asked:
            return "A second opinion: somebody else has answered this row."
        return "Opened from a list; your answer counts like any other."
    if question.strategy == AUDIT:
        return "Drawn at random, to measure how good the decisions are."
    if question.strategy == HIGHEST_SCORES:
        return "Asked because its score is among the highest."
    return "Selected because its answer improves the model most."


def row_views(
    workspace: Workspace,
    positions: list[int],
    names: Sequence[str] = (),
    answers: Mapping[int, Answer] | None = None,
) -> list[RowView]:
    """Return the rows at some positions, with the cells of some columns."""
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
    session, columns = workspace.session, workspace.columns
    known = session.labels
    known[at] = UNLABELLED
    labelled = np.flatnonzero(known != UNLABELLED)
    distances = np.square(workspace.points[labelled] - workspace.points[at]).sum(axis=1)
    similar: list[RowView] = []
    for other in labelled[np.argsort(distances, kind="stable")[:N_SIMILAR]].tolist():
        answer = Answer.OUTLIER if known[other] == OUTLIER else Answer.INLIER
        names = columns.largest_differences(at, other)
        similar += row_views(workspace, [other], names, {session.rows.ids([other])[0]: answer})
    return similar


def _group(workspace: Workspace, at: int, explanation: Explanation) -> RowGroup | None:
    """Return unanswered rows like a row."""
    snapshot, columns, session = workspace.snapshot, workspace.columns, workspace.session
    main = explanation.main_reasons
    shown = [reason.column for reason in main if not reason.is_about_row]
    broken = {reason.column for reason in main if reason.rule or reason.is_about_row}
    reason, found = find_group(columns, at, shown, snapshot.scores, snapshot.suspects, broken)
    positions = [other for other in found if not session.answers_about(*session.rows.ids([other]))]
    names = shown[:4] or columns.names[:4]
    return RowGroup(reason, row_views(workspace, positions, names)) if positions else None


def panel_view(workspace: Workspace) -> dict[str, Any]:
    """Return the values of the side panel."""
    snapshot, progress = workspace.snapshot, workspace.session.progress()
    counts = progress.counts
    n_labelled = counts[Answer.OUTLIER] + counts[Answer.INLIER]
    found = f"{count(counts[Answer.OUTLIER], 'outlier')} in {count(n_labelled, 'answer')}"
    return {
        "round": snapshot.round,  # trainings with answers
        "n_open": progress.n_open,
        "counts": counts,  # number of rows with each answer
        "found_picture": draw_found(progress.is_outlier, found),
        "score_picture": snapshot.draw("Scores of all rows, with the threshold"),
        "n_predicted": snapshot.n_predicted,
        "precision": snapshot.precision,
        "missed": snapshot.missed,
        "is_threshold_estimated": snapshot.detector.decision_.is_estimated,
        "advice": snapshot.advice,
        "should_stop": snapshot.should_stop,
        "training": workspace.training,
        "until_training": max(workspace.n_questions - workspace.n_new_answers, 0),
        "n_disagreements": len(workspace.doubtful()) + progress.n_conflicts,
        "agreement": _write_agreement(progress.agreement),
        "error": workspace.error,
    }


def _write_agreement(agreement: AnnotatorAgreement) -> str:
    """Write how often two people agree; nothing if no row has two answers."""
    if agreement.n_rows == 0:
        return ""
    text = f"{percent(agreement.fraction)} of {count(agreement.n_rows, 'row')}"
    return text if math.isnan(agreement.kappa) else f"{text}, kappa {agreement.kappa:.2f}"
