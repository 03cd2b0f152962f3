"""Distillation: train a student on the log-odds of a teacher."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.utils import check_random_state

from imboost.detectors.base import BaseDetector
from imboost.detectors.distilled.agreement import Agreement
from imboost.detectors.distilled.detector import Distilled
from imboost.detectors.distilled.drawing import draw_rows
from imboost.errors import DataError
from imboost.labels import Labels, check_labels
from imboost.models.perceptron import Perceptron, standard_scaling
from imboost.tables.layout import Kind, Layout
from imboost.training.distillation import fit_student

Floats = NDArray[np.float64]

MIN_ROWS = 10
MAX_ROWS = 25_000  # rows of the table that are used, drawn at random
HELD_OUT = 0.2  # fraction of these rows that the student is compared on
N_DRAWN_PER_ROW, N_DRAWN = 4, (4_000, 20_000)  # drawn rows per training row, and their range
MAX_DRAWN_CELLS = 5_000_000  # cells of all drawn rows; bounds the time of the teacher
REAL_ROW_WEIGHT = 2.0  # weight of a row of the table in the risk; a drawn row has 1
MIN_PROBABILITY = 1e-5  # the teacher's probabilities are clipped, so that log-odds are finite


def distill(
    teacher: BaseDetector, X: Any, y: Any = None, *, random_state: Any = None, check: bool = True
) -> Distilled:
    """Return a student of a trained detector whose scores are probabilities.

    Parameters
    ----------
    teacher : BaseDetector
    X : array of shape (n_rows, n_columns)
        Rows that `teacher.decision_function` takes, best those it was trained on.
    y : array of shape (n_rows,), optional
        Labels, for the comparison with the teacher. Default: the teacher's, if `X` is its
        training table.
    random_state : int, RandomState or None
        None takes the seed of the teacher.
    check : bool
        Whether to raise a DistillationError if student and teacher disagree too much.
    """
    X = np.asarray(teacher._check_table(X), dtype=np.float64)
    if len(X) < MIN_ROWS:
        raise DataError(f"Distilling needs at least {MIN_ROWS} rows, got {len(X)}.")
    is_training_table = _is_training_table(teacher, X)
    if y is None and is_training_table:
        y = teacher.training_labels_
    labels = check_labels(y, len(X))
    seed = int(check_random_state(random_state).randint(2**31 - 1)) if random_state is not None else teacher._seed
    rng = np.random.default_rng(seed)
    used = rng.permutation(len(X))[:MAX_ROWS]
    held_out, training = np.split(used, [max(2, round(HELD_OUT * len(used)))])
    scores = (
        teacher.decision_scores_[used] if is_training_table else teacher.decision_function(X[used])
    )
    held_out_scores, training_scores = np.split(scores, [len(held_out)])
    layout = teacher._layout or Layout.of_numbers([str(n) for n in range(X.shape[1])])
    network = _train(teacher, X[training], training_scores, layout, rng)

    student = Distilled(contamination=teacher.contamination, random_state=teacher.random_state)
    student.teacher_ = type(teacher).__name__
    student._network = network
    student._seed = seed
    student._layout = Layout(tuple(f for f in layout.features if f.kind != Kind.RULE))
    student.n_features_in_ = network.n_features
    visible = X[:, : network.n_features]
    student._fingerprint_rows = student._take_fingerprint_rows(visible)
    for name in ("calibration_", "training_labels_", "out_of_fold_proba_", "_n_rows", "_fitted_labels"):
        setattr(student, name, getattr(teacher, name))
    student.decision_scores_ = (
        student._score_rows(visible) if is_training_table else teacher.decision_scores_
    )
    student.query_scores_ = student.decision_scores_
    student.set_threshold(score=teacher.threshold_)
    student.threshold_is_estimated_ = teacher.threshold_is_estimated_
    student.agreement_ = Agreement.measure(
        held_out_scores,
        student._score_rows(visible[held_out]),
        labels[held_out],
        teacher.threshold_,
    )
    if check:
        student.agreement_.check()
    return student


def _is_training_table(teacher: BaseDetector, X: Floats) -> bool:
    return len(X) == teacher._n_rows and np.array_equal(
        teacher._fingerprint_rows, teacher._take_fingerprint_rows(X), equal_nan=True
    )


def _train(
    teacher: BaseDetector, X: Floats, scores: Floats, layout: Layout, rng: np.random.Generator
) -> Perceptron:
    """Return a network fitted to the teacher's scores of the rows and of rows around them."""
    n_drawn = int(np.clip(N_DRAWN_PER_ROW * len(X), *N_DRAWN))
    n_drawn = min(n_drawn, max(MAX_DRAWN_CELLS // X.shape[1], N_DRAWN[0] // 2))
    drawn = draw_rows(X, layout, scores, n_drawn, rng)
    drawn_scores = teacher.decision_function(drawn)
    n_columns = layout.n_columns - layout.n_of_kind(Kind.RULE)  # rules are the last columns
    rows = np.vstack([X, drawn])[:, :n_columns]
    probabilities = np.concatenate([scores, drawn_scores])
    targets = special.logit(np.clip(probabilities, MIN_PROBABILITY, 1 - MIN_PROBABILITY))
    weights = np.repeat([REAL_ROW_WEIGHT, 1.0], [len(X), n_drawn])
    n_numeric = layout.n_of_kind(Kind.NUMERIC)
    seed = int(rng.integers(2**31))
    network = Perceptron(standard_scaling(X[:, :n_numeric]), n_columns, seed)
    fit_student(network, rows, targets, weights, seed)
    return network
