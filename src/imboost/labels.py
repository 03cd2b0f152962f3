"""The label convention of the package, and labels written as text.

A row is an inlier (0), an outlier (1) or not labelled (-1). This is PyOD's convention.
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

Labels = NDArray[np.int8]  # one label per row: INLIER, OUTLIER or UNLABELLED


def unlabelled(n_rows: int) -> Labels:
    """Return the labels of `n_rows` unlabelled rows."""
    return np.full(n_rows, UNLABELLED, dtype=np.int8)


def has_both_classes(labels: Labels) -> bool:
    """Whether there are labels of inliers and of outliers."""
    return bool((labels == INLIER).any() and (labels == OUTLIER).any())


def check_labels(y: Any, n_rows: int) -> Labels:
    """Return `y` as labels of `n_rows` rows, or all unlabelled if `y` is None.

    Raises a ValueError if `y` has another length or holds anything but -1, 0 and 1.
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
        invalid = ", ".join(np.unique(values[~known].astype(str))[:5].tolist())
        raise ValueError(
            "y must hold only 0 (inlier), 1 (outlier) and -1 (not labelled); "
            f"got {invalid}. Recode the other values, or set them to -1."
        )
    return values.astype(np.int8)


_SPELLINGS = {
    OUTLIER: "1 yes y true t outlier anomaly anomalous abnormal",
    INLIER: "0 no n false f inlier normal",
    UNLABELLED: "-1 ? n/a open pending unlabelled unlabeled unknown unsure",
}
TEXT_LABELS: Final = {"": UNLABELLED} | {
    text: label for label, texts in _SPELLINGS.items() for text in texts.split()
}
"""Labels by their spellings, in lower case."""


def from_text(values: Iterable[str | None], outlier_label: str | None = None) -> Labels:
    """Convert a column of labels written as text to 0, 1 and -1; None is not labelled.

    If an `outlier_label` is given, all other values mean inlier, except for the spellings of an
    unlabelled row. Raises a DataError if the meaning of a value is unknown, or if no row has the
    `outlier_label`.

    >>> from_text(["yes", "No", None])
    array([ 1,  0, -1], dtype=int8)
    >>> from_text(["1.0", "0.0", None])
    array([ 1,  0, -1], dtype=int8)
    >>> from_text(["fraud", "fine", None], outlier_label="fraud")
    array([ 1,  0, -1], dtype=int8)
    """
    texts = [_clean(value) for value in values]
    counts = Counter(texts)
    named = Counter({repr(text): n for text, n in counts.items() if text})
    found = f"got {_list_counts(named, 5)}"
    hint = "Give the label that means outlier with `outlier_label`."
    lower = {text.lower() for text in counts}
    if outlier_label is not None:
        outlier = _clean(outlier_label).lower()
        if outlier not in lower:
            raise DataError(f"No label is '{outlier_label}'; {found}.")
        unlabelled_texts = {text for text, label in TEXT_LABELS.items() if label == UNLABELLED}
        meanings = dict.fromkeys(lower, INLIER) | dict.fromkeys(unlabelled_texts, UNLABELLED)
        meanings[outlier] = OUTLIER
    elif not lower <= TEXT_LABELS.keys():
        raise DataError(
            "Labels must be 0 or 1, yes or no, true or false, inlier or outlier, normal or "
            f"anomaly, or empty; {found}. {hint}"
        )
    elif {"1", "-1"} <= lower and "0" not in lower:  # scikit-learn's labels, or unlabelled rows
        raise DataError(f"Labels 1 and -1 without 0 are ambiguous; {found}. {hint}")
    else:
        meanings = TEXT_LABELS
    return np.array([meanings[text.lower()] for text in texts], dtype=np.int8)


def describe_labels(values: Iterable[str | None], labels: Labels) -> str:
    """Describe which texts became which label, and how often, after `from_text`.

    >>> values = ["fraud", "fine", "fine", None]
    >>> describe_labels(values, from_text(values, outlier_label="fraud"))
    "outlier: 'fraud' (1 row); inlier: 'fine' (2 rows); unlabelled: empty (1 row)"
    """
    texts = [repr(text) if (text := _clean(value)) else "empty" for value in values]
    described = []
    for label, name in ((OUTLIER, "outlier"), (INLIER, "inlier"), (UNLABELLED, "unlabelled")):
        counts = Counter(texts[row] for row in np.flatnonzero(labels == label))
        if counts:
            described.append(f"{name}: {_list_counts(counts, 3)}")
    return "; ".join(described)


def _clean(value: str | None) -> str:
    """Return text without surrounding spaces, and an integer without decimals."""
    return re.sub(r"^(-?\d+)\.0*$", r"\1", (value or "").strip())


def _list_counts(counts: Counter[str], most: int) -> str:
    """List the most frequent texts with their number of rows."""
    listed = [f"{text} ({n:,} row{'s' * (n != 1)})" for text, n in counts.most_common(most)]
    if n_more := len(counts) - len(listed):
        listed.append(f"{n_more:,} other label{'s' * (n_more != 1)}")
    return ", ".join(listed) or "none"
