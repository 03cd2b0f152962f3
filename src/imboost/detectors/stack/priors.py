"""What unsupervised views are worth without answers, by how crowded a table is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mode

from imboost.detectors.shallow.base import Floats
from imboost.tables.layout import Kind, Layout

VIEWS = ("isolation", "distances", "rest", "surprise")
"""What scores rows without answers."""

SPARSE_SURPRISE = 5.0
"""How much the view "surprise" counts, in those of any other, where a table is not crowded."""

MANY_TELLING = 100
"""With so many telling cells in a row a table is crowded by half, with endlessly many fully."""

CROWDED_REST = 8.0
"""How much the view "rest" counts, in those of any other, in a fully crowded table."""


def one_column_each(filled: Floats, layout: Layout | None) -> Floats:
    """Return one column for every feature but gaps: its number, or the number of its level."""
    if layout is None:
        return filled
    return np.column_stack(
        [
            filled[:, feature.columns].argmax(axis=1)
            if feature.kind == Kind.CATEGORICAL
            else filled[:, feature.start]
            for feature in layout.features
            if feature.kind != Kind.MISSING_INDICATOR
        ]
    )


def crowding_of(content: Floats) -> float:
    """Return how crowded with dimensions a table is, from 0 to 1.

    What counts is not how many columns there are, but how many cells of a row tell it from
    others: those that differ from the column's most frequent value. Of a thousand columns that
    say which few words a row holds, only a few cells do.
    """
    telling = float(np.sum(1 - mode(content, axis=0).count / len(content)))
    return telling / (telling + MANY_TELLING)


def join_views(looks: dict[str, Floats]) -> NDArray[np.float64]:
    """Return what the views among looks say, side by side."""
    return np.hstack([look for name, look in looks.items() if name in VIEWS])


def view_trust(looks: dict[str, Floats], crowding: float) -> NDArray[np.float64]:
    """Return how much each view counts without answers; the sum is 1.

    In many dimensions all rows are about equally far from each other, a few splits isolate no
    row, and what principal components leave unexplained tells more; in few it tells next to
    nothing.
    """
    trust = {
        "isolation": 1 - crowding**2,
        "rest": CROWDED_REST * crowding**2,
        "surprise": SPARSE_SURPRISE * (1 - crowding**2),
    }
    shares = np.concatenate(
        [
            np.full(look.shape[1], trust.get(name, 1.0))
            for name, look in looks.items()
            if name in VIEWS
        ]
    )
    return np.asarray(shares / shares.sum())
