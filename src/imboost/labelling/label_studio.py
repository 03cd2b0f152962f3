"""Tasks and answers as JSON for Label Studio, and a labelling configuration that shows a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from imboost.labelling.workspace import Workspace
from imboost.session import Answer, Answered, Session
from imboost.session.table import fingerprint

ROW, TABLE, CELLS = "imboost_row", "imboost_table", "cells"  # fields of a task's data
CHOICES, NOTE, SHOWN = "answer", "note", "row"  # names of the tags in `CONFIG`

CONFIG = f"""<View>
  <Header value="Is this row an outlier?"/>
  <Table name="{SHOWN}" value="${CELLS}"/>
  <Choices name="{CHOICES}" toName="{SHOWN}" choice="single" required="true">
    <Choice value="outlier" hotkey="o"/>
    <Choice value="inlier" hotkey="i"/>
    <Choice value="unsure" hotkey="u"/>
    <Choice value="skip" hotkey="s"/>
  </Choices>
  <TextArea name="{NOTE}" toName="{SHOWN}" placeholder="Note" maxSubmissions="1"/>
</View>
"""
"""Labelling configuration of a Label Studio project for the exported tasks."""


def export_tasks(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """Yield a task for every answered row and every open question.

    The data of a task are the cells, the number of the row and the fingerprint of the table. The
    model's decision is a prediction; its score is the probability of that decision, and its model
    version the round. Every person's last answer is an annotation.

    Label Studio knows people by e-mail address alone, and refuses others as `completed_by`: a
    name is exported as `created_username`.
    """
    session, snapshot = workspace.session, workspace.snapshot
    given: dict[int, list[Answered]] = {}
    for entry in last_answers(session).values():
        given.setdefault(entry.row, []).append(entry)
    table = fingerprint(session.X)
    for row in sorted({*given, *session.open_questions}):
        at = session.rows.position(row)
        probability = float(snapshot.probabilities[at])
        is_outlier = bool(snapshot.scores[at] > snapshot.threshold)
        decision = Answer.OUTLIER if is_outlier else Answer.INLIER
        yield {
            "data": {CELLS: workspace.columns.cells(at), ROW: row, TABLE: table},
            "predictions": [
                {
                    "model_version": f"round {snapshot.round}",
                    "score": probability if is_outlier else 1.0 - probability,
                    "result": [_choice(decision)],
                }
            ],
            "annotations": [_annotation(entry) for entry in given.get(row, [])],
        }


def last_answers(session: Session) -> dict[tuple[int, str], Answered]:
    """Return the last answer of each person about each row."""
    return {(entry.row, entry.who): entry for entry in session.history}


def _annotation(entry: Answered) -> dict[str, Any]:
    result = [_choice(entry.answer)]
    if entry.note:
        result.append(_result(NOTE, "textarea", {"text": [entry.note]}))
    annotation: dict[str, Any] = {
        "result": result,
        "was_cancelled": entry.answer is Answer.SKIP,
        "created_at": entry.when.isoformat(),
        "created_username": entry.who,
    }
    if entry.seconds is not None:
        annotation["lead_time"] = entry.seconds
    if "@" in entry.who:
        annotation["completed_by"] = {"email": entry.who}
    return annotation


def _choice(answer: Answer) -> dict[str, Any]:
    return _result(CHOICES, "choices", {"choices": [str(answer)]})


def _result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": SHOWN, "type": kind, "value": value}
