"""What a person can say about a row."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from imboost.errors import SessionError
from imboost.labels import INLIER, OUTLIER, UNLABELLED


class Answer(StrEnum):
    """An answer to the question whether a row is an outlier.

    INLIER and OUTLIER reach the training. UNSURE says that the person looked and cannot
    tell: the row is not asked again. SKIP puts the row off: it may come again in a later
    round.
    """

    INLIER = "inlier"
    OUTLIER = "outlier"
    UNSURE = "unsure"
    SKIP = "skip"

    @property
    def label(self) -> int:
        """The label the answer gives its row."""
        return {Answer.INLIER: INLIER, Answer.OUTLIER: OUTLIER}.get(self, UNLABELLED)

    @classmethod
    def parse(cls, value: Any) -> Answer:
        """Read an answer, its word, or the labels 0 and 1.

        >>> Answer.parse("unsure"), Answer.parse(1)
        (<Answer.UNSURE: 'unsure'>, <Answer.OUTLIER: 'outlier'>)
        """
        if isinstance(value, str):
            try:
                return cls(value.strip().lower())
            except ValueError:
                pass
        elif value == INLIER:
            return cls.INLIER
        elif value == OUTLIER:
            return cls.OUTLIER
        words = ", ".join(answer.value for answer in cls)
        raise SessionError(f"An answer is one of {words} (or 0 and 1), got {value!r}.")
