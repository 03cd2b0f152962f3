"""What several people's answers about a row amount to, and how well the people agree.

Answers about a row are given oldest first, without those withdrawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

from imboost.labels import UNLABELLED
from imboost.session.log import Answered


def last_answers(answers: Sequence[Answered]) -> dict[str, Answered]:
    """Return each person's last answer, counted from the last one that resolves a conflict."""
    resolved = [number for number, entry in enumerate(answers) if entry.resolves]
    return {entry.who: entry for entry in answers[resolved[-1] if resolved else 0 :]}


def consensus(answers: Sequence[Answered]) -> Answered | None:
    """Return the answer about a row that counts, or None if people disagree about it.

    Decided answers are inlier and outlier; where there are none, the last answer counts.
    """
    last = sorted(last_answers(answers).values(), key=lambda entry: entry.when)
    decided = [entry for entry in last if entry.answer.label != UNLABELLED]
    if len({entry.answer for entry in decided}) > 1:
        return None
    return (decided or last)[-1]


@dataclass(frozen=True)
class AnnotatorAgreement:
    """Agreement of two people on the rows that both of them decided.

    `n_rows` were answered with inlier or outlier by two people, a `fraction` of them equally (nan
    without rows). `kappa` is Cohen's, agreement beyond chance: 1 is perfect, 0 is chance, nan is
    undefined, as it is if all answers are the same.
    """

    n_rows: int
    fraction: float
    kappa: float

    @classmethod
    def measure(cls, label_pairs: Mapping[tuple[int, int], int]) -> AnnotatorAgreement:
        """Measure the agreement from the number of rows with each `first_two_labels`.

        >>> AnnotatorAgreement.measure({(0, 0): 2, (1, 1): 1, (0, 1): 1})
        AnnotatorAgreement(n_rows=4, fraction=0.75, kappa=0.5)
        """
        n_rows = sum(label_pairs.values())
        if not n_rows:
            return cls(0, nan, nan)
        fraction = sum(n for (one, other), n in label_pairs.items() if one == other) / n_rows
        first = sum(n for (one, _), n in label_pairs.items() if one) / n_rows
        second = sum(n for (_, other), n in label_pairs.items() if other) / n_rows
        chance = first * second + (1 - first) * (1 - second)
        return cls(n_rows, fraction, (fraction - chance) / (1 - chance) if chance < 1 else nan)


def first_two_labels(answers: Sequence[Answered]) -> tuple[int, int] | None:
    """Return the labels of a row by the first two people who decided it; None if fewer did.

    Each person's last answer counts, except those that resolved a conflict, which were given
    with the others in view.
    """
    last = {entry.who: entry.answer.label for entry in answers if not entry.resolves}
    labels = [label for label in last.values() if label != UNLABELLED]
    return (labels[0], labels[1]) if len(labels) > 1 else None
