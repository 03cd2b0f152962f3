"""Answers from Label Studio's JSON: that of our own export, or of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from imboost.errors import DataError, SessionError
from imboost.labelling.label_studio import CHOICES, NOTE, ROW, TABLE, last_answers
from imboost.present.formatting import count
from imboost.session import Answer, Call, Session
from imboost.session.rows import RowIds
from imboost.session.table import fingerprint

MAX_BYTES = 20_000_000  # of a file
MAX_SECONDS = 1e9  # more is no time that a person took
MAX_NAME_LENGTH = 60  # characters of a person's name
MAX_NOTE_LENGTH = 2000  # characters of a note
PREFIX = "label-studio-"
NEVER = datetime.min.replace(tzinfo=UTC)
AS_JSON = "export it from Label Studio as JSON"


@dataclass(frozen=True)
class Imported:
    """How many answers of a file are new, and how many were known already."""

    n_new: int
    n_known: int

    def __str__(self) -> str:
        known = f" {count(self.n_known, 'answer')} of the file were known already."
        return f"Imported {count(self.n_new, 'answer')}.{known if self.n_known else ''}"


def import_answers(session: Session, content: bytes) -> Imported:
    """Tell a session the answers of a file: all of them, or none if this raises.

    An answer that was imported before, or that is older than another one of the same person about
    the same row, is left out: to import a file twice changes nothing.

    Raises
    ------
    DataError
        If the file is too large, is not Label Studio's JSON, or belongs to another table.
    """
    given = sorted(read_answers(content, session), key=lambda one: one[0])
    with session.writing():
        known = {entry.request for entry in session.history}
        last: dict[tuple[int, str], tuple[Any, datetime]] = {
            person: (entry.answer, NEVER if entry.request.startswith(PREFIX) else entry.when)
            for person, entry in last_answers(session).items()
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
    return Imported(len(calls), len(given) - len(calls))


def read_answers(content: bytes, session: Session) -> Iterator[tuple[datetime, Call]]:
    """Yield the answers of a file about the rows of a session, with their times.

    The request of a call identifies the annotation and its content: a changed one is another
    request. Annotations without an answer are left out.

    Raises
    ------
    DataError
        Names the first task that is wrong.
    """
    table = fingerprint(session.X)
    for number, task in enumerate(_parse(content), 1):
        try:
            row = _check_data(task, table, session.rows)
            for annotation in _list(task, "annotations"):
                if (answer := _read(row, annotation)) is not None:
                    yield answer
        except (DataError, SessionError) as error:
            raise DataError(f"Task {number}: {error}") from None


def _parse(content: bytes) -> list[Any]:
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
    return tasks


def _check_data(task: Any, table: str, rows: RowIds) -> int:
    """Return the row of a task."""
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
    """Return the answer of an annotation and its time; None if it holds none."""
    if not isinstance(annotation, dict):
        raise DataError("an annotation is not an object.")
    results = [one for one in _list(annotation, "result") if isinstance(one, dict)]
    answer = _read_answer(results)
    if answer is None and annotation.get("was_cancelled") is True:
        answer = Answer.SKIP
    if answer is None:
        return None
    who = _read_person(annotation)
    when = annotation.get("updated_at") or annotation.get("created_at")
    parts = [row, who, answer, annotation.get("id"), when]
    digest = sha256(json.dumps(parts, default=str).encode()).hexdigest()
    spent = annotation.get("lead_time")
    if not (isinstance(spent, int | float) and 0 <= spent < MAX_SECONDS):
        spent = None
    seconds, note = None if spent is None else float(spent), _read_note(results)
    return _read_time(when), Call([row], [answer], who, seconds, note, f"{PREFIX}{digest[:32]}")


def _read_answer(results: list[dict[str, Any]]) -> Answer | None:
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


def _read_person(annotation: dict[str, Any]) -> str:
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


def _read_note(results: list[dict[str, Any]]) -> str:
    values = [one.get("value") for one in results if one.get("from_name") == NOTE]
    texts = [value.get("text") for value in values if isinstance(value, dict)]
    lines = [line for text in texts for line in (text if isinstance(text, list) else [text])]
    return _clean("\n".join(line for line in lines if isinstance(line, str)), MAX_NOTE_LENGTH)


def _read_time(value: Any) -> datetime:
    try:
        when = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return NEVER
    return when if when.tzinfo else when.replace(tzinfo=UTC)


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
