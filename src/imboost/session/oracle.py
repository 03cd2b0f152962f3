"""Simulated sessions: known labels answer the questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from imboost.errors import SessionError
from imboost.labels import INLIER, OUTLIER
from imboost.session.log import Answer
from imboost.session.session import Session
from imboost.validation import check_number


class Oracle:
    """Answers questions from known labels.

    Parameters
    ----------
    y : array of shape (n_rows,)
        The true label of every row, 0 or 1.
    noise : float
        Probability of a wrong answer. A row gets the same answer whenever it is asked.
    random_state : int, RandomState or None
        Selects the rows with wrong answers.

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
        is_wrong = check_random_state(random_state).random_sample(len(labels)) < noise
        self._labels = np.where(is_wrong, 1 - labels, labels)

    def answer(self, rows: Sequence[int]) -> list[Answer]:
        """Return the answer about each row."""
        return [Answer.parse(int(self._labels[row])) for row in rows]


def run_rounds(
    session: Session, oracle: Oracle, n_rounds: int, n_questions: int | None = None
) -> Iterator[int]:
    """Run a session with an oracle; yield the round before any answer and after each training.

    `n_questions` are asked in each of `n_rounds` more rounds; the session's default if not given.
    """
    session.start()
    yield session.round
    for _ in range(n_rounds):
        if session.n_left or session.open_questions:  # once all rows are answered, only train
            rows = session.ask(n_questions)
            session.tell(rows, oracle.answer(rows), who="oracle")
        session.refine()
        yield session.round
