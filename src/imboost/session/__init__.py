"""Active-learning sessions: ask about rows, tell the answers, refine the model."""

from imboost.session.answers import Answer
from imboost.session.log import Answered, Asked, Entry, MemoryLog, Refined, SessionLog, Started
from imboost.session.oracle import Oracle, run_rounds
from imboost.session.session import Session, questions_per_round

__all__ = [
    "Answer",
    "Answered",
    "Asked",
    "Entry",
    "MemoryLog",
    "Oracle",
    "Refined",
    "Session",
    "SessionLog",
    "Started",
    "questions_per_round",
    "run_rounds",
]
