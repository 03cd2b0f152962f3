"""Distilled: a small network that scores as a trained detector does, only faster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from imboost.arrays import Floats
from imboost.detectors.base import BaseDetector
from imboost.detectors.distilled.agreement import TeacherAgreement
from imboost.errors import SettingError
from imboost.labels import Labels

if TYPE_CHECKING:
    from imboost.models.perceptron import Perceptron


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
        self._refuse_training()

    def _refine(self, X: NDArray[Any], labels: Labels) -> None:
        self._refuse_training()

    def _refuse_training(self) -> NoReturn:
        raise SettingError(
            "A distilled detector cannot be trained: fit or refine its teacher, then call distill."
        )

    def _score_rows(self, X: NDArray[Any]) -> Floats:
        from imboost.training.distillation import predict_log_odds

        return np.asarray(expit(predict_log_odds(self._network, X)))
