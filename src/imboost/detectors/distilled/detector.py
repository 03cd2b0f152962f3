"""Distilled: a small network that scores as a trained detector does, only faster."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import spearmanr

from imboost.arrays import Floats
from imboost.detectors.base import BaseDetector
from imboost.errors import DistillationError, SettingError
from imboost.labels import UNLABELLED, Labels
from imboost.stats.ranking import auc_and_ap

if TYPE_CHECKING:
    from imboost.models.perceptron import Perceptron

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
            raise DistillationError(
                f"The distilled model ranks {self.n_rows:,} rows too differently from the model: "
                f"rank correlation {self.rank_correlation:.2f}, at least "
                f"{MIN_RANK_CORRELATION:g} is required. Use the model itself, or give more rows."
            )
        if self.top_kept < MIN_TOP_KEPT:
            raise DistillationError(
                f"The distilled model keeps {self.top_kept:.0%} of the highest {self.n_top:,} of "
                f"{self.n_rows:,} scores, at least {MIN_TOP_KEPT:.0%} are required. Use the model "
                "itself, or give more rows."
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
