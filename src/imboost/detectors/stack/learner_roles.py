"""The experts of `Stack`: what each looks at, how it learns, and how far it is trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.stack.base_learners import (
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


def _trust_with_few_cells(crowding: float) -> float:
    return 2 - 1.5 * crowding


def _trust_with_many_cells(crowding: float) -> float:
    return 4 * crowding


def _trust_with_very_many_cells(crowding: float) -> float:
    return 8 * crowding**2


@dataclass(frozen=True)
class ExpertRole:
    """What an expert looks at, how it learns, and how far it is trusted at the start.

    Parameters
    ----------
    aspect : str
        What it looks at: the name of one of the aspects of rows.
    teach : callable
        Returns the expert, given a lesson.
    trust : callable
        Returns how many answers' worth of trust it has before any, given how crowded the table
        is: from 0, where no cell tells a row from others, to 1, where endlessly many do.
    """

    aspect: str
    teach: Teach
    trust: Callable[[float], float] = _trust_with_few_cells


EXPERTS = {
    "searching": ExpertRole("features", _teach_searching),
    "components": ExpertRole("rotated_features", _teach_randomised),
    "linear": ExpertRole("coordinates", _teach_linear),
    "process": ExpertRole("ranks", _teach_process, _trust_with_many_cells),
    "views": ExpertRole("views", _teach_views, _trust_with_very_many_cells),
}
"""The experts that learn from answers. In many dimensions trees and lines need many answers; the
views, and the process, which leaves them as they are where it knows nothing, are heard first."""
