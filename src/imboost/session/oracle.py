"""Sessions without a person: known labels answer the questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from imboost.errors import SessionError
from imboost.labels import INLIER, OUTLIER
from imboost.session.answers import Answer
from imboost.session.session import Session
from imboost.validation import check_number


class Oracle:
    """Answers from known labels.

    Parameters
    ----------
    y : array of shape (n_rows,)
        The true label of every row, 0 or 1.
    noise : float
        Chance that the oracle takes a row for the other kind. It is wrong about the same
        rows however often it is asked.
    random_state : int, RandomState or None
        Chooses these rows.

    Examples
    --------
    >>> Oracle(np.array([0, 1])).answer([1])
    [<Answer.OUTLIER: 'outlier'>]
    """

    def __init__(
        self,
        y: NDArray[Any],
        *,
        noise: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        labels = np.asarray(y)
        if labels.ndim != 1 or not np.isin(labels, (INLIER, OUTLIER)).all():
            raise SessionError("An oracle needs one known label, 0 or 1, for every row.")
        check_number("noise", noise, minimum=0.0, maximum=1.0)
        wrong = check_random_state(random_state).random_sample(len(labels)) < noise
        self._says_outlier = (labels == OUTLIER) ^ wrong

    def answer(self, rows: Sequence[int]) -> list[Answer]:
        """Return the answer about each row."""
        return [Answer.OUTLIER if self._says_outlier[row] else Answer.INLIER for row in rows]


def run_rounds(
    session: Session, oracle: Oracle, n_rounds: int, n_questions: int | None = None
) -> Iterator[int]:
    """Drive a session by an oracle; yield 0 before any answer, then after every round.

    Parameters
    ----------
    session : Session
        A new session, or one to go on with.
    oracle : Oracle
        Who answers.
    n_rounds : int
        Rounds of questions, answers and training.
    n_questions : int, optional
        Questions a round; the session's default if not given.
    """
    session.start()
    yield session.round
    for _ in range(n_rounds):
        if session.n_left or session.open_questions:  # else train on with what is known
            rows = session.ask(n_questions)
            session.tell(rows, oracle.answer(rows), who="oracle")
        session.refine()
        yield session.round
