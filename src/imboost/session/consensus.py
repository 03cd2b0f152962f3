"""Which answer about a row counts when several people gave one, or one person gave several."""

from __future__ import annotations

from collections.abc import Sequence

from imboost.labels import UNLABELLED
from imboost.session.log import Answered


def last_answers(answers: Sequence[Answered]) -> dict[str, Answered]:
    """Return each person's last answer, counted from the last one that resolves a conflict.

    Parameters
    ----------
    answers : sequence of Answered
        The answers about one row, oldest first, without those withdrawn.
    """
    resolved = [number for number, entry in enumerate(answers) if entry.resolves]
    return {entry.who: entry for entry in answers[resolved[-1] if resolved else 0 :]}


def consensus(answers: Sequence[Answered]) -> Answered | None:
    """Return the answer about a row that counts, or None if people disagree about it.

    Decided answers are inlier and outlier; where there are none, the last answer counts.

    Parameters
    ----------
    answers : sequence of Answered
        The answers about one row, oldest first, without those withdrawn; at least one.
    """
    last = sorted(last_answers(answers).values(), key=lambda entry: entry.when)
    decided = [entry for entry in last if entry.answer.label != UNLABELLED]
    if len({entry.answer for entry in decided}) > 1:
        return None
    return (decided or last)[-1]
