"""The label convention of the whole package, and the only converters to others.

A row is an inlier (0), an outlier (1) or not labelled (-1). This is PyOD's convention;
scikit-learn's outlier detectors say +1 for an inlier and -1 for an outlier instead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from imboost.errors import DataError

INLIER: Final = 0
OUTLIER: Final = 1
UNLABELLED: Final = -1

Labels = NDArray[np.int8]
"""One label per row: INLIER, OUTLIER or UNLABELLED."""


def unlabelled(n_rows: int) -> Labels:
    """Return the labels of `n_rows` rows about which nothing is known."""
    return np.full(n_rows, UNLABELLED, dtype=np.int8)


def has_both_classes(labels: Labels) -> bool:
    """Whether there are labels of inliers and of outliers."""
    return bool((labels == INLIER).any() and (labels == OUTLIER).any())


def check_labels(y: Any, n_rows: int) -> Labels:
    """Return `y` as labels of `n_rows` rows, or all unlabelled if `y` is None.

    Raises
    ------
    ValueError
        If `y` has another length than `n_rows` or holds anything but -1, 0 and 1.
    """
    if y is None:
        return unlabelled(n_rows)
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n_rows,):
        raise ValueError(
            f"y must hold one label per row: expected shape ({n_rows},), got {values.shape}."
        )
    known = np.isin(values, (UNLABELLED, INLIER, OUTLIER))
    if not known.all():
        strange = ", ".join(np.unique(values[~known].astype(str))[:5].tolist())
        raise ValueError(
            "y must hold only 0 (inlier), 1 (outlier) and -1 (not labelled); "
            f"got {strange}. Recode the other values, or set them to -1."
        )
    return values.astype(np.int8)


def to_sklearn(labels: NDArray[Any]) -> NDArray[np.int8]:
    """Turn 0/1 predictions into scikit-learn's +1 (inlier) and -1 (outlier).

    >>> to_sklearn(np.array([0, 1]))
    array([ 1, -1], dtype=int8)
    """
    return np.where(labels == OUTLIER, -1, 1).astype(np.int8)


def from_sklearn(labels: NDArray[Any]) -> Labels:
    """Turn scikit-learn's +1 (inlier) and -1 (outlier) into 0/1.

    >>> from_sklearn(np.array([1, -1]))
    array([0, 1], dtype=int8)
    """
    return np.where(labels == -1, OUTLIER, INLIER).astype(np.int8)


OUTLIER_WORDS: Final = (
    "1",
    "yes",
    "y",
    "true",
    "t",
    "outlier",
    "anomaly",
    "anomalous",
    "abnormal",
)
INLIER_WORDS: Final = ("0", "no", "n", "false", "f", "inlier", "normal")
UNLABELLED_WORDS: Final = (
    "",
    "-1",
    "?",
    "n/a",
    "open",
    "pending",
    "unlabelled",
    "unlabeled",
    "unknown",
    "unsure",
)
"""What people write for the three labels, in any case."""

MOST_FOUND: Final = 5
MOST_TOLD: Final = 3
"""Words that are named in an error, and for each label once they are understood."""


def from_words(words: Iterable[str | None], outlier_word: str | None = None) -> Labels:
    """Turn what a column of labels says into 0, 1 and -1; None is not labelled.

    Parameters
    ----------
    words : iterable of str or None
        One for every row.
    outlier_word : str, optional
        The word that means outlier. All others then mean inlier, but for those that say that
        nothing is known.

    Raises
    ------
    DataError
        If words are neither of the known ones nor is it said which of them means outlier.

    Examples
    --------
    >>> from_words(["yes", "No", None])
    array([ 1,  0, -1], dtype=int8)
    >>> from_words(["1.0", "0.0", None])
    array([ 1,  0, -1], dtype=int8)
    >>> from_words(["fraud", "fine", None], outlier_word="fraud")
    array([ 1,  0, -1], dtype=int8)
    """
    spelled = ["" if word is None else _spelling(word) for word in words]
    counts = Counter(spelled)
    meanings = _known_meanings(counts) if outlier_word is None else _by(outlier_word, counts)
    return np.array([meanings[word.lower()] for word in spelled], dtype=np.int8)


def tell_meanings(words: Iterable[str | None], labels: Labels) -> str:
    """Say which words count as which label and how often, given what `from_words` returned.

    >>> words = ["fraud", "fine", "fine", None]
    >>> tell_meanings(words, from_words(words, outlier_word="fraud"))
    "outlier: 'fraud' (1 row); inlier: 'fine' (2 rows); undecided: empty (1 row)"
    """
    kinds = {OUTLIER: "outlier", INLIER: "inlier", UNLABELLED: "undecided"}
    counts: dict[int, Counter[str]] = {label: Counter() for label in kinds}
    for word, label in zip(words, labels.tolist(), strict=True):
        spelled = "" if word is None else _spelling(word)
        counts[label][f"'{spelled}'" if spelled else "empty"] += 1
    return "; ".join(
        f"{kind}: {_listed(counts[label], MOST_TOLD)}"
        for label, kind in kinds.items()
        if counts[label]
    )


def _spelling(word: str) -> str:
    """Return a word without spaces around it; a whole number without decimals."""
    return re.sub(r"^(-?\d+)\.0*$", r"\1", word.strip())


def _known_meanings(counts: Counter[str]) -> dict[str, int]:
    """Return the label that each word means, or raise if some could mean anything."""
    meanings = {
        **dict.fromkeys(OUTLIER_WORDS, OUTLIER),
        **dict.fromkeys(INLIER_WORDS, INLIER),
        **dict.fromkeys(UNLABELLED_WORDS, UNLABELLED),
    }
    if any(word.lower() not in meanings for word in counts):
        raise DataError(
            "Labels must be 0 or 1, yes or no, true or false, inlier or outlier, normal or "
            f"anomaly, or empty; got {_counted(counts)}. Say which word means outlier "
            "(on the command line with --outlier-word)."
        )
    if {"1", "-1"} <= counts.keys() and "0" not in counts:
        raise DataError(
            f"Labels 1 and -1 without 0 may mean two things; got {_counted(counts)}. Say which "
            "of them means outlier (on the command line with --outlier-word)."
        )
    return meanings


def _by(outlier_word: str, counts: Counter[str]) -> dict[str, int]:
    """Return the label that each word means, given which of them means outlier."""
    wanted, found = _spelling(outlier_word).lower(), {word.lower() for word in counts}
    if wanted not in found:
        raise DataError(f"No label is '{outlier_word}'; got {_counted(counts)}.")
    meanings = dict.fromkeys(found, INLIER) | dict.fromkeys(UNLABELLED_WORDS, UNLABELLED)
    return {**meanings, wanted: OUTLIER}


def _counted(counts: Counter[str]) -> str:
    words = Counter({f"'{word}'": n for word, n in counts.items() if word})
    return _listed(words, MOST_FOUND) or "none"


def _listed(counts: Counter[str], most: int) -> str:
    """Name the commonest words and say of how many rows each is."""
    shown = [f"{word} ({n:,} row{'s' * (n != 1)})" for word, n in counts.most_common(most)]
    n_more = len(counts) - len(shown)
    rest = [f"{n_more:,} other word{'s' * (n_more != 1)}"] if n_more else []
    return ", ".join([*shown, *rest])
