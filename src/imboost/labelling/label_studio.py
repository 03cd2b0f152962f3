"""Tasks and answers as JSON for Label Studio, and answers back from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from imboost.errors import DataError, SessionError
from imboost.labelling.workspace import MAX_NAME_LENGTH, MAX_NOTE_LENGTH, Workspace
from imboost.session import Answer, Answered, Call, Session
from imboost.session.rows import RowIds, fingerprint

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

MAX_BYTES = 20_000_000  # of a file
MAX_SECONDS = 1e9  # more is no time that a person took
PREFIX = "label-studio-"
NEVER = datetime.min.replace(tzinfo=UTC)
AS_JSON = "export it from Label Studio as JSON"

Json = dict[str, Any]


def export_tasks(workspace: Workspace) -> Iterator[Json]:
    """Yield a task for every answered row and every open question.

    The data of a task are the cells, the number of the row and the fingerprint of the table. The
    model's decision is a prediction; its score is the probability of that decision, and its model
    version the round. Every person's last answer is an annotation.

    Label Studio knows people by e-mail address alone, and refuses others as `completed_by`: a
    name is exported as `created_username`.
    """
    session, snapshot = workspace.session, workspace.snapshot
    given: dict[int, list[Answered]] = {}
    for entry in _last_answers(session).values():
        given.setdefault(entry.row, []).append(entry)
    table = fingerprint(session.X)
    for row in sorted({*given, *session.open_questions}):
        at = session.rows.position(row)
        probability = float(snapshot.probabilities[at])
        is_outlier = bool(snapshot.scores[at] > snapshot.threshold)
        prediction = {
            "model_version": f"round {snapshot.round}",
            "score": probability if is_outlier else 1.0 - probability,
            "result": [_choice(Answer.OUTLIER if is_outlier else Answer.INLIER)],
        }
        yield {
            "data": {CELLS: workspace.columns.cells(at), ROW: row, TABLE: table},
            "predictions": [prediction],
            "annotations": [_annotation(entry) for entry in given.get(row, [])],
        }


def import_answers(session: Session, content: bytes) -> tuple[int, int]:
    """Tell a session the answers of a file: all of them, or none if this raises.

    An answer that was imported before, or that is older than another one of the same person about
    the same row, is left out: to import a file twice changes nothing.

    Returns
    -------
    n_new, n_known : int
        Answers that were told, and that were left out.

    Raises
    ------
    DataError
        If the file is too large, is not Label Studio's JSON, or belongs to another table.
    """
    given = sorted(_read_answers(content, session), key=lambda one: one[0])
    with session.writing():
        known = {entry.request for entry in session.history}
        last: dict[tuple[int, str], tuple[Any, datetime]] = {
            person: (entry.answer, NEVER if entry.request.startswith(PREFIX) else entry.when)
            for person, entry in _last_answers(session).items()
        }
        calls = []
        for when, call in given:
            [row], [answer] = call.rows, call.answers
            before, since = last.get((row, call.who), (None, NEVER))
            if call.request in known or answer is before or NEVER < when <= since:
                continue
            calls.append(call)
            known.add(call.request)
            last[row, call.who] = (answer, NEVER)
        session.tell_all(calls)
    return len(calls), len(given) - len(calls)


def _last_answers(session: Session) -> dict[tuple[int, str], Answered]:
    """Return the last answer of each person about each row."""
    return {(entry.row, entry.who): entry for entry in session.history}


def _annotation(entry: Answered) -> Json:
    result = [_choice(entry.answer)]
    if entry.note:
        result.append(_result(NOTE, "textarea", {"text": [entry.note]}))
    annotation = {
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


def _choice(answer: Answer) -> Json:
    return _result(CHOICES, "choices", {"choices": [str(answer)]})


def _result(name: str, kind: str, value: Json) -> Json:
    return {"from_name": name, "to_name": SHOWN, "type": kind, "value": value}


def _read_answers(content: bytes, session: Session) -> Iterator[tuple[datetime, Call]]:
    """Yield the answers of a file, with their times; annotations without one are left out."""
    if len(content) > MAX_BYTES:
        raise DataError(
            f"The file has {len(content):,} bytes; at most {MAX_BYTES:,} can be imported at once."
        )
    try:
        tasks = json.loads(content)
    except (ValueError, RecursionError):
        raise DataError(f"The file is not JSON: {AS_JSON}.") from None
    if not isinstance(tasks, list):
        raise DataError(f"The file is not a list of tasks: {AS_JSON}.")
    table = fingerprint(session.X)
    for number, task in enumerate(tasks, 1):
        try:
            row = _row_of(task, table, session.rows)
            for annotation in _list(task, "annotations"):
                if (answer := _read(row, annotation)) is not None:
                    yield answer
        except (DataError, SessionError) as error:
            raise DataError(f"Task {number}: {error}") from None


def _row_of(task: Any, table: str, rows: RowIds) -> int:
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict):
        raise DataError(f"it has no 'data': {AS_JSON}, not as JSON-MIN or CSV.")
    if TABLE not in data or ROW not in data:
        raise DataError(f"its data lack '{ROW}' or '{TABLE}': it was not exported by IMBoost.")
    if data[TABLE] != table:
        raise DataError("it belongs to another table.")
    rows.position(data[ROW])
    return int(data[ROW])


def _read(row: int, annotation: Any) -> tuple[datetime, Call] | None:
    """Return the answer of an annotation and its time; None if it holds none.

    The request of the call identifies the annotation and its content: a changed one is another
    request.
    """
    if not isinstance(annotation, dict):
        raise DataError("an annotation is not an object.")
    results = [one for one in _list(annotation, "result") if isinstance(one, dict)]
    answer = _read_answer(results)
    if answer is None and annotation.get("was_cancelled") is True:
        answer = Answer.SKIP
    if answer is None:
        return None
    who = _read_person(annotation)
    updated: Any = annotation.get("updated_at") or annotation.get("created_at")
    try:
        when = datetime.fromisoformat(updated)
    except (TypeError, ValueError):
        when = NEVER
    parts = [row, who, answer, annotation.get("id"), updated]
    digest = sha256(json.dumps(parts, default=str).encode()).hexdigest()
    spent: Any = annotation.get("lead_time")
    is_time = isinstance(spent, int | float) and 0 <= spent < MAX_SECONDS
    return when if when.tzinfo else when.replace(tzinfo=UTC), Call(
        [row],
        [answer],
        who,
        float(spent) if is_time else None,
        _read_note(results),
        f"{PREFIX}{digest[:32]}",
    )


def _read_answer(results: list[Json]) -> Answer | None:
    found = [one for one in results if one.get("type") == "choices"]
    named = [one for one in found if one.get("from_name") == CHOICES] or found
    choices = [choice for one in named for choice in _list(one.get("value"), "choices")]
    if not choices:
        return None
    if len(choices) > 1 or not isinstance(choices[0], str):
        raise DataError(f"an annotation needs one choice, got {choices!r:.60}.")
    try:
        return Answer.parse(choices[0])
    except SessionError:
        known = ", ".join(answer.value for answer in Answer)
        raise DataError(f"a choice must be {known}, got {choices[0]!r:.60}.") from None


def _read_person(annotation: Json) -> str:
    """Return the person: an e-mail address, a name, or Label Studio's number of a user."""
    person = annotation.get("completed_by")
    if isinstance(person, dict):
        names = [str(person.get(key) or "") for key in ("first_name", "last_name")]
        person = person.get("email") or " ".join(names).strip() or person.get("id")
    if isinstance(person, int) and not isinstance(person, bool):
        person = f"user {person}"
    if not isinstance(person, str) or not person:
        person = annotation.get("created_username")
    return _clean(person, MAX_NAME_LENGTH)


def _read_note(results: list[Json]) -> str:
    values = [one.get("value") for one in results if one.get("from_name") == NOTE]
    texts = [value.get("text") for value in values if isinstance(value, dict)]
    lines = [line for text in texts for line in (text if isinstance(text, list) else [text])]
    return _clean("\n".join(line for line in lines if isinstance(line, str)), MAX_NOTE_LENGTH)


def _list(parent: Any, key: str) -> list[Any]:
    value = (parent.get(key) if isinstance(parent, dict) else None) or []
    if not isinstance(value, list):
        raise DataError(f"'{key}' must be a list.")
    return value


def _clean(text: Any, max_length: int) -> str:
    """Return text that every database can store."""
    if not isinstance(text, str):
        return ""
    return text.replace("\0", "").encode(errors="ignore").decode().strip()[:max_length]
