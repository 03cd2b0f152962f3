"""Distillation: train a student on the log-odds of a teacher."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from imboost.arrays import Floats, Indices
from imboost.detectors.base import BaseDetector
from imboost.detectors.distilled.agreement import TeacherAgreement
from imboost.detectors.distilled.detector import Distilled
from imboost.detectors.distilled.drawing import Cells, Encode, draw_rows, take_rows
from imboost.errors import DataError
from imboost.labels import UNLABELLED, Labels, check_labels
from imboost.tables.layout import Kind, Layout

if TYPE_CHECKING:
    from imboost.models.perceptron import Perceptron

MIN_ROWS = 10
MAX_ROWS = 25_000  # rows of the table that are used: labelled rows, then others, at random
HELD_OUT = 5  # one of so many of these rows is held out, to compare the student on
N_DRAWN = 40_000  # drawn rows
MAX_DRAWN_CELLS = 5_000_000  # cells of their input columns; bounds the time of the teacher
REAL_ROW_WEIGHT = 2.0  # weight of a row of the table in the risk; a drawn row has 1
MIN_PROBABILITY = 1e-5  # the teacher's probabilities are clipped, so that log-odds are finite


def distill(
    teacher: BaseDetector, cells: Cells, encode: Encode, y: Any = None, *, check: bool = True
) -> Distilled:
    """Return a student of a trained detector whose scores are probabilities.

    Parameters
    ----------
    teacher : BaseDetector
    cells : dict of str to array
        Columns of a table, best those of the training table.
    encode : callable
        Returns the rows that `teacher.decision_function` takes.
    y : array of shape (n_rows,), optional
        Labels, for the comparison with the teacher. Default: the teacher's, if the table is its
        training table.
    check : bool
        Whether to raise a DistillationError if student and teacher disagree too much.
    """
    X = teacher._check_table(encode(cells))
    if len(X) < MIN_ROWS:
        raise DataError(f"Distilling needs at least {MIN_ROWS} rows, got {len(X)}.")
    decision = teacher.decision_
    is_training_table = len(X) == len(decision.scores) and teacher._has_fingerprint(X)
    labels = check_labels(decision.labels if y is None and is_training_table else y, len(X))
    layout = teacher._layout or Layout.of_numbers([str(n) for n in range(X.shape[1])])
    rng = np.random.default_rng(teacher._seed)
    held_out, training = _split_rows(labels, rng)
    used, n_held_out = np.concatenate([held_out, training]), len(held_out)
    scores = decision.scores[used] if is_training_table else teacher.decision_function(X[used])
    drawn = draw_rows(
        take_rows(cells, training),
        encode,
        layout,
        scores[n_held_out:],
        min(N_DRAWN, MAX_DRAWN_CELLS // len(cells)),
        rng,
    )
    rows = np.vstack([X[training], drawn])
    targets = np.concatenate([scores[n_held_out:], teacher.decision_function(drawn)])
    student = Distilled(contamination=teacher.contamination, random_state=teacher.random_state)
    student.teacher_ = type(teacher).__name__
    student._seed = teacher._seed
    student._layout = Layout(tuple(one for one in layout.features if one.kind != Kind.RULE))
    student.n_features_in_ = student._layout.n_columns
    student._network = _train(rows, targets, len(training), student._layout, teacher._seed)

    visible = X[:, : student.n_features_in_]  # rules are the last columns
    student._n_rows = teacher._n_rows
    student._fingerprint_rows = student._take_fingerprint_rows(visible)
    student.decision_ = decision
    if is_training_table:
        student.decision_ = replace(decision, scores=student._score_rows(visible))
    student.query_scores_ = student.decision_scores_
    student.agreement_ = TeacherAgreement.measure(
        scores[:n_held_out],
        student._score_rows(visible[held_out]),
        labels[held_out],
        decision.threshold,
    )
    if check:
        student.agreement_.check()
    return student


def _split_rows(labels: Labels, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Draw at most `MAX_ROWS` rows, labelled rows first, and hold out one in `HELD_OUT`.

    Held-out and training rows have the same fractions of outliers and inliers.
    """
    rows = rng.permutation(len(labels))
    used = rows[np.argsort(labels[rows] == UNLABELLED, kind="stable")][:MAX_ROWS]
    by_label = used[np.argsort(-labels[used], kind="stable")]
    is_held_out = np.arange(len(used)) % HELD_OUT == 0
    return by_label[is_held_out], by_label[~is_held_out]


def _train(
    rows: Floats, probabilities: Floats, n_real: int, layout: Layout, seed: int
) -> Perceptron:
    """Return a network fitted to the teacher's scores; the first `n_real` rows are not drawn."""
    from imboost.models.perceptron import Perceptron, standard_scaling
    from imboost.training.distillation import fit_student

    targets = special.logit(np.clip(probabilities, MIN_PROBABILITY, 1 - MIN_PROBABILITY))
    weights = np.repeat([REAL_ROW_WEIGHT, 1.0], [n_real, len(rows) - n_real])
    numbers = rows[:n_real, : layout.n_of_kind(Kind.NUMERIC)]
    network = Perceptron(standard_scaling(numbers), layout.n_columns, seed)
    fit_student(network, rows[:, : layout.n_columns], targets, weights, seed)
    return network
