"""The history and the scores of a session as tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from imboost.detectors.detector import Detector
from imboost.scoring.score_files import SCORE_COLUMNS, schema_of
from imboost.session.log import Answered, Entry, Withdrawn, start_of
from imboost.session.state import SessionState
from imboost.session.trainer import rank

if TYPE_CHECKING:
    from imboost.session.session import Session

HISTORY = pa.schema(
    [
        ("number", pa.int64()),
        ("row", pa.int64()),
        ("answer", pa.string()),
        ("who", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("score", pa.float64()),
        ("rank", pa.int64()),
        ("strategy", pa.string()),
        ("round", pa.int64()),
        ("seconds", pa.float64()),
        ("note", pa.string()),
        ("kind", pa.string()),
        ("request", pa.string()),
    ]
)
"""Columns of a history; `number` is the position of the entry in the log."""


def history_table(session_log: Iterable[Entry]) -> pa.Table:
    """Return all answers and withdrawals of a log as an Arrow table, oldest first.

    The column `kind` says what each of them is: an "answer", a "correction" of the same person's
    answer, a "resolution" of a conflict, or a "withdrawal", which has no answer. `round` is the
    number of trainings before it, the version of the model that `score` and `rank` belong to.

    Examples
    --------
    >>> from imboost import MemoryLog, Session, Stack
    >>> log = MemoryLog()
    >>> session = Session(Stack(), [[0.0], [1.0], [2.0]], log=log)
    >>> session.tell([2], ["outlier"], who="Ada")
    >>> session.tell([2], ["inlier"], who="Ada")
    >>> history_table(log).select(["row", "answer", "kind"]).to_pylist()[-1]
    {'row': 2, 'answer': 'inlier', 'kind': 'correction'}
    """
    lines: list[dict[str, Any]] = []
    entries, state = list(session_log), SessionState()
    start_of(entries)
    for number, entry in enumerate(entries):
        if isinstance(entry, Answered | Withdrawn):
            values = {**vars(entry), "number": number, "time": entry.when}
            lines.append(values | {"kind": _kind(entry, state)})
        state.apply(entry)
    columns = {name: [line.get(name) for line in lines] for name in HISTORY.names}
    return pa.table(columns, schema=HISTORY)


def _kind(entry: Answered | Withdrawn, state: SessionState) -> str:
    """Return what an entry is, given the state before it."""
    if isinstance(entry, Withdrawn):
        return "withdrawal"
    if entry.resolves:
        return "resolution"
    given = state.given.get(entry.row, [])
    return "correction" if any(one.who == entry.who for one in given) else "answer"


def score_table(session: Session, detector: Detector) -> pa.Table:
    """Return a table with the score, the prediction and the answer of every row of `session.X`."""
    scores, decision, rows = detector.decision_scores_, detector.decision_, session.rows.numbers
    answers = session.answers
    return pa.table(
        {
            "row": rows,
            "score": scores,
            "rank": rank(scores, decision.weights),
            "probability": decision.probability(scores),
            "is_outlier": detector.labels_ == 1,
            "answer": [answers.get(row) for row in rows.tolist()],
        },
        schema=schema_of(*SCORE_COLUMNS),
    )
