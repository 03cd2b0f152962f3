"""The experts of `Stack`: what each looks at, how it learns, and how far it is trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.experts import (
    Expert,
    ForestExpert,
    LinearExpert,
    ResidualProcess,
    ViewExpert,
    ViewOpinion,
)
from imboost.labels import Labels

Teach = Callable[["Lesson"], Expert]


@dataclass(frozen=True)
class Lesson:
    """What an expert is taught with."""

    features: NDArray[np.float64]
    answers: Labels
    viewer: ViewExpert
    first_opinion: NDArray[np.float64]
    n_trees: int
    seed: int


def _teach_randomised(lesson: Lesson) -> Expert:
    return ForestExpert(lesson.features, lesson.answers, lesson.n_trees, lesson.seed)


def _teach_searching(lesson: Lesson) -> Expert:
    return ForestExpert(
        lesson.features, lesson.answers, lesson.n_trees, lesson.seed, searching=True
    )


def _teach_linear(lesson: Lesson) -> Expert:
    return LinearExpert(lesson.features, lesson.answers, lesson.seed)


def _teach_views(lesson: Lesson) -> Expert:
    return ViewOpinion(lesson.viewer)


def _teach_process(lesson: Lesson) -> Expert:
    held_out = lesson.viewer.held_out
    return ResidualProcess(
        lesson.features, lesson.answers, lesson.first_opinion, held_out, lesson.seed
    )


@dataclass(frozen=True)
class ExpertRole:
    """What an expert looks at, how it learns, and how far it is trusted at the start.

    Parameters
    ----------
    aspect : str
        What it looks at: the name of one of the aspects of rows.
    teach : callable
        Returns the expert, given a lesson.
    crowded, sparse : float
        Answers' worth of trust before any answer in a table of endlessly many columns, and in
        one of none.
    """

    aspect: str
    teach: Teach
    crowded: float = 0.0
    sparse: float = 2.0


EXPERTS = {
    "searching": ExpertRole("features", _teach_searching),
    "components": ExpertRole("rotated_features", _teach_randomised),
    "linear": ExpertRole("coordinates", _teach_linear),
    "process": ExpertRole("ranks", _teach_process, crowded=8.0, sparse=0.0),
    "views": ExpertRole("views", _teach_views, crowded=8.0, sparse=0.0),
}
"""The experts that learn from answers. In many dimensions trees and lines need many answers; the
views, and the process, which leaves them as they are where it knows nothing, are heard first."""
