"""How well people agree who answered the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from sklearn.metrics import cohen_kappa_score

from imboost.labels import INLIER, OUTLIER, UNLABELLED
from imboost.session.log import Answered


@dataclass(frozen=True)
class Agreement:
    """Agreement of two people on the rows that both of them decided.

    Parameters
    ----------
    n_rows : int
        Rows that two people called an inlier or an outlier.
    fraction : float
        Fraction of these rows with equal answers; nan without rows.
    kappa : float
        Cohen's kappa, agreement beyond chance: 1 is perfect, 0 is chance. nan if it is undefined,
        as it is if all answers are the same.
    """

    n_rows: int
    fraction: float
    kappa: float

    @classmethod
    def of(cls, rows: Iterable[Sequence[Answered]]) -> Agreement:
        """Measure the agreement.

        Each person's last answer about a row counts, except those that resolved a conflict,
        which were given with the others in view. If more than two people decided a row, the
        first two of them count.

        Parameters
        ----------
        rows : iterable of sequences of Answered
            The answers about each row, oldest first, without those withdrawn.
        """
        pairs = [labels for answers in rows if len(labels := _first_two_labels(answers)) == 2]
        if not pairs:
            return cls(0, float("nan"), float("nan"))
        first, second = zip(*pairs, strict=True)
        fraction = sum(one == other for one, other in pairs) / len(pairs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about kappa being undefined, which nan says
            kappa = cohen_kappa_score(first, second, labels=[INLIER, OUTLIER])
        return cls(len(pairs), fraction, float(kappa))


def _first_two_labels(answers: Sequence[Answered]) -> list[int]:
    """Return the labels of a row by the first two people who decided it."""
    own = {entry.who: entry.answer.label for entry in answers if not entry.resolves}
    return list(islice((label for label in own.values() if label != UNLABELLED), 2))
