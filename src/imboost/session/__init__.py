"""Active-learning sessions: ask about rows, tell the answers, refine the model."""

from imboost.session.consensus import AnnotatorAgreement
from imboost.session.log import (
    Answer,
    Answered,
    Asked,
    Entry,
    MemoryLog,
    Refined,
    SessionLog,
    Started,
    Withdrawn,
)
from imboost.session.logged_state import Call
from imboost.session.oracle import Oracle, run_rounds
from imboost.session.selection import questions_per_round
from imboost.session.session import Session

__all__ = [
    "AnnotatorAgreement",
    "Answer",
    "Answered",
    "Asked",
    "Call",
    "Entry",
    "MemoryLog",
    "Oracle",
    "Refined",
    "Session",
    "SessionLog",
    "Started",
    "Withdrawn",
    "questions_per_round",
    "run_rounds",
]
