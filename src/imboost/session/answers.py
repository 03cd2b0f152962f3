"""The answers a person can give about a row."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from imboost.errors import SessionError
from imboost.labels import INLIER, OUTLIER, UNLABELLED


class Answer(StrEnum):
    """Answer to the question whether a row is an outlier.

    INLIER and OUTLIER become labels. UNSURE means that the person cannot decide: the row is not
    asked again. SKIP postpones the row: it may be asked again in a later round.
    """

    INLIER = "inlier"
    OUTLIER = "outlier"
    UNSURE = "unsure"
    SKIP = "skip"

    @property
    def label(self) -> int:
        """The row's label: 0, 1 or -1."""
        return {Answer.INLIER: INLIER, Answer.OUTLIER: OUTLIER}.get(self, UNLABELLED)

    @classmethod
    def parse(cls, value: Any) -> Answer:
        """Convert the text of an answer, or the labels 0 and 1.

        >>> Answer.parse("unsure"), Answer.parse(1)
        (<Answer.UNSURE: 'unsure'>, <Answer.OUTLIER: 'outlier'>)
        """
        try:
            if isinstance(value, str):
                return cls(value.strip().lower())
            return {INLIER: cls.INLIER, OUTLIER: cls.OUTLIER}[value]
        except (ValueError, LookupError, TypeError):
            options = ", ".join(answer.value for answer in cls)
            raise SessionError(
                f"An answer must be one of {options}, 0 or 1, got {value!r}."
            ) from None
