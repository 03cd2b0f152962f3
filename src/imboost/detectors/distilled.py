"""Distillation: a small network that scores as a trained detector does, only faster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import spearmanr

from imboost.arrays import Floats, Indices, Mask
from imboost.detectors.base import BaseDetector
from imboost.errors import DataError, DistillationError, SettingError
from imboost.labels import UNLABELLED, Labels, check_labels
from imboost.stats.log_odds import logit
from imboost.stats.ranks import auc_and_ap
from imboost.tables.layout import Kind, Layout

if TYPE_CHECKING:
    from imboost.training.distillation import Perceptron

Cells = dict[Any, Any]
"""The cells of a table by column: floats, nan where missing, or strings in an Arrow array."""
Encode = Callable[[Cells], NDArray[Any]]
"""Returns the matrix of a table."""

MIN_ROWS = 10
MAX_ROWS = 25_000  # rows of the table that are used: labelled rows, then others, at random
HELD_OUT = 5  # one of so many of these rows is held out, to compare the student on
N_DRAWN = 40_000  # drawn rows
MAX_DRAWN_CELLS = 5_000_000  # cells of their input columns; bounds the time of the teacher
REAL_ROW_WEIGHT = 2.0  # weight of a row of the table in the risk; a drawn row has 1
MIN_PROBABILITY = 1e-5  # the teacher's probabilities are clipped, so that log-odds are finite

MAX_REPLACED = 0.5  # largest probability with which a cell is taken from another row
MAX_SHIFT = 0.5  # largest weight of the other row in an interpolation
NOISE = (0.01, 0.3)  # range of the noise, in standard deviations of a column
MAX_EXCESS = 1.0  # how far random numbers exceed the range of a column, in its width
N_RANDOM_CELLS = 2  # expected number of random cells of a row that has any
HIGH_SCORE_WEIGHT = 3.0  # how much more often the row with the highest score is drawn
UNSEEN = "(never seen)"  # stands for all categories that are not in the table

TOP_FRACTION = 0.01  # of the rows: the highest scores that both should have in common
MIN_RANK_CORRELATION = 0.5  # the lowest of 21 ADBench tables was 0.7
MIN_TOP_KEPT = 0.3  # the lowest of the tables with 1,000 rows held out was 0.45
MIN_TOP_ROWS = 10  # the share of fewer rows would say nothing


@dataclass(kw_only=True, eq=False, repr=False)
class Distilled(BaseDetector):
    """A perceptron that was trained on the log-odds of another detector, its teacher.

    It is made by `Stack.distill` or `TableDetector.distill` and cannot be trained further: refine
    the teacher and distill it again. Threshold and calibration are the teacher's.

    Attributes
    ----------
    teacher_ : str
        Name of the teacher's class.
    agreement_ : TeacherAgreement
        Comparison with the teacher's scores, on rows that were held out.
    decision_scores_, labels_, threshold_, decision_, n_features_in_
        As in `Stack`. If the teacher was distilled on another table than its training table,
        `decision_scores_` are the teacher's.

    References
    ----------
    Hinton, Vinyals, Dean, "Distilling the knowledge in a neural network", 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost.detectors import Stack
    >>> rows = np.random.default_rng(0).normal(size=(500, 3))
    >>> rows[0] += 9
    >>> student = Stack(random_state=0).fit(rows).distill(rows)
    >>> int(student.decision_scores_.argmax()), student.agreement_.rank_correlation > 0.9
    (0, True)
    """

    allow_nan = True
    refine_depends_on_history = False
    scores_are_probabilities = True

    teacher_: str = field(init=False)
    agreement_: TeacherAgreement = field(init=False)
    _network: Perceptron = field(init=False)

    @property
    def model_name(self) -> str:
        """Name of the model in score files and responses, with its teacher's."""
        return f"{type(self).__name__}({self.teacher_})"

    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        raise SettingError(
            "A distilled detector cannot be trained: fit or refine its teacher, then call distill."
        )

    _refine = _fit

    def _score_rows(self, X: NDArray[Any]) -> Floats:
        from imboost.training.distillation import predict_log_odds

        return np.asarray(expit(predict_log_odds(self._network, X)))


@dataclass(frozen=True)
class TeacherAgreement:
    """Scores of a student compared with its teacher's, on rows that it was not trained on.

    Parameters
    ----------
    n_rows : int
        Rows that were compared.
    rank_correlation : float
        Spearman's correlation of the scores.
    n_top, top_kept : int, float
        Number of the teacher's highest scores, one in a hundred but at least ten, and the
        fraction of them that is among as many highest scores of the student.
    decisions_kept : float
        Fraction of rows with the same prediction.
    n_labelled : int
        Labelled rows among them.
    auc_lost, ap_lost : float
        The teacher's AUC and average precision on the labelled rows minus the student's; nan
        without labels of both classes.
    """

    n_rows: int
    rank_correlation: float
    n_top: int
    top_kept: float
    decisions_kept: float
    n_labelled: int
    auc_lost: float
    ap_lost: float

    def __post_init__(self) -> None:
        """Refuse figures that are no comparison, as an edited model folder may hold."""
        shares = (self.top_kept, self.decisions_kept)
        if not (-1 <= self.rank_correlation <= 1 and all(0 <= share <= 1 for share in shares)):
            raise ValueError("correlation and fractions of an agreement must be numbers in range")

    @classmethod
    def measure(
        cls, teacher: Floats, student: Floats, labels: Labels, threshold: float
    ) -> TeacherAgreement:
        """Compare the scores of the same rows."""
        n_top = min(max(MIN_TOP_ROWS, ceil(TOP_FRACTION * len(teacher))), len(teacher))
        top = [set(np.argsort(-scores, kind="stable")[:n_top]) for scores in (teacher, student)]
        is_constant = np.ptp(teacher) == 0 or np.ptp(student) == 0
        auc_lost, ap_lost = np.subtract(auc_and_ap(labels, teacher), auc_and_ap(labels, student))
        return cls(
            n_rows=len(teacher),
            rank_correlation=0.0 if is_constant else float(spearmanr(teacher, student)[0]),
            n_top=n_top,
            top_kept=len(top[0] & top[1]) / n_top,
            decisions_kept=float(np.mean((teacher > threshold) == (student > threshold))),
            n_labelled=int((labels != UNLABELLED).sum()),
            auc_lost=float(auc_lost),
            ap_lost=float(ap_lost),
        )

    def check(self) -> None:
        """Raise a DistillationError below the floor."""
        if self.rank_correlation < MIN_RANK_CORRELATION:
            problem = (
                f"ranks {self.n_rows:,} rows too differently from the model: rank correlation "
                f"{self.rank_correlation:.2f}, at least {MIN_RANK_CORRELATION:g} is"
            )
        elif self.top_kept < MIN_TOP_KEPT:
            problem = (
                f"keeps {self.top_kept:.0%} of the highest {self.n_top:,} of {self.n_rows:,} "
                f"scores, at least {MIN_TOP_KEPT:.0%} are"
            )
        else:
            return
        raise DistillationError(
            f"The distilled model {problem} required. Use the model itself, or give more rows."
        )

    def __str__(self) -> str:
        """Return the figures as one line."""
        text = (
            f"rank correlation {self.rank_correlation:.3f}, {self.top_kept:.0%} of the "
            f"{self.n_top:,} highest scores kept, {self.decisions_kept:.2%} of decisions equal"
        )
        if np.isnan(self.auc_lost):
            return text
        return (
            f"{text}; on {self.n_labelled:,} labelled rows AUC {-self.auc_lost:+.3f}, "
            f"AP {-self.ap_lost:+.3f}"
        )


def distill(
    teacher: BaseDetector, cells: Cells, encode: Encode, y: Any = None, *, check: bool = True
) -> Distilled:
    """Return a student of a trained detector whose scores are probabilities.

    `encode` turns the cells of a table, best the training table, into the rows that the teacher
    takes. The labels serve the comparison with the teacher; by default they are the teacher's if
    the table is its training table. With `check`, too large a difference is an error.
    """
    from imboost.training.distillation import fit_student, standard_scaling

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
    student._network = fit_student(
        rows[:, : student.n_features_in_],
        logit(targets, MIN_PROBABILITY),
        np.repeat([REAL_ROW_WEIGHT, 1.0], [len(training), len(drawn)]),
        standard_scaling(rows[: len(training), : layout.n_of_kind(Kind.NUMERIC)]),
        teacher._seed,
    )

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


def draw_rows(
    cells: Cells,
    encode: Encode,
    layout: Layout,
    scores: Floats,
    n_rows: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the matrix of new rows; rows with high scores are drawn more often.

    A quarter each are rows with cells of another row, rows with a few random cells, rows with
    noise, and interpolations between two rows. The cells of the first two are drawn before they
    are encoded, so that they may break rules. The others differ from a row of the table in their
    numbers alone and keep its flags of broken rules: numbers that satisfy a sum exactly no longer
    do so after the smallest change.
    """
    ranks = scores.argsort().argsort() / max(len(scores) - 1, 1)
    weights = 1.0 + HIGH_SCORE_WEIGHT * ranks**4
    rows = rng.choice(len(scores), n_rows, p=weights / weights.sum())
    n_changed = n_rows // 2
    changed = encode(_change_cells(cells, rows[:n_changed], len(scores), rng))
    moved = encode(take_rows(cells, rows[n_changed:]))
    others = encode(take_rows(cells, rng.integers(len(scores), size=len(moved))))
    _move_numbers(moved, others, layout.n_of_kind(Kind.NUMERIC), rng)
    return np.vstack([changed, moved])


def take_rows(cells: Cells, rows: Indices) -> Cells:
    """Return some rows of a table."""
    return {name: column.take(rows) for name, column in cells.items()}


def _change_cells(cells: Cells, rows: Indices, n_known: int, rng: np.random.Generator) -> Cells:
    """Return rows in which some cells are those of another row, or some cells are random."""
    n_rows = len(rows)
    others = rng.integers(n_known, size=n_rows)
    chance = rng.uniform(0, MAX_REPLACED, size=n_rows)
    is_first_half = np.arange(n_rows) < n_rows // 2
    changed = {}
    for name, column in cells.items():
        is_replaced = is_first_half & (rng.random(n_rows) < chance)
        is_random = ~is_first_half & (rng.random(n_rows) < N_RANDOM_CELLS / len(cells))
        taken = column.take(np.where(is_replaced, others, rows))
        changed[name] = _with_random_cells(taken, column, is_random, rng)
    return changed


def _with_random_cells(cells: Any, column: Any, is_random: Mask, rng: np.random.Generator) -> Any:
    """Return cells of a column, some of them random: of a wider range, or any category."""
    if isinstance(column, np.ndarray):
        known = column[~np.isnan(column)]
        if len(known) == 0:
            return cells
        low, high = known.min() / 2, known.max() / 2  # halved: the difference may overflow
        excess = MAX_EXCESS * (high - low)
        drawn = rng.uniform(low - excess, high + excess, size=len(cells)) * 2
        return np.where(is_random, drawn, cells)
    import pyarrow as pa  # detectors of matrices do not need it
    import pyarrow.compute as pc

    distinct = pa.array([*column.unique().to_pylist(), UNSEEN], pa.string())
    drawn = distinct.take(pa.array(rng.integers(len(distinct), size=len(cells))))
    return pc.if_else(pa.array(is_random), drawn, cells)


def _move_numbers(rows: Floats, others: Floats, n_numeric: int, rng: np.random.Generator) -> None:
    """Add noise to the numbers of half of the encoded rows, and interpolate the rest."""
    n_rows = len(rows)
    numbers = rows[:, :n_numeric]
    deviations = np.ma.masked_invalid(others[:, :n_numeric]).std(axis=0).filled(0.0)
    low, high = np.log(NOISE)
    size = np.exp(rng.uniform(low, high, size=(n_rows, 1))) * deviations
    noise = size * rng.normal(size=numbers.shape)
    shift = rng.uniform(0, MAX_SHIFT, size=(n_rows, 1)) * (others[:, :n_numeric] - numbers)
    is_noisy = np.arange(n_rows)[:, None] < n_rows // 2
    numbers += np.where(is_noisy, noise, np.nan_to_num(shift))
