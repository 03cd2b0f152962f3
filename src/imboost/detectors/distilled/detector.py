"""Distilled: a small network that scores as a trained detector does, only faster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from scipy.special import expit

from imboost.arrays import Floats
from imboost.detectors.base import BaseDetector
from imboost.detectors.distilled.agreement import Agreement
from imboost.errors import SettingError
from imboost.labels import Labels
from imboost.models.perceptron import Perceptron
from imboost.training.loop import one_thread

CHUNK_ROWS = 256
"""Rows of one forward pass. The last chunk is filled up: matrix products of another size may round
differently, and the score of a row must not depend on the number of rows."""


@dataclass(kw_only=True, eq=False, repr=False)
class Distilled(BaseDetector):
    """A perceptron that was trained on the log-odds of another detector, its teacher.

    It is made by `Stack.distill` or `TableDetector.distill` and cannot be trained further: refine
    the teacher and distill it again. Threshold and calibration are the teacher's.

    Attributes
    ----------
    teacher_ : str
        Name of the teacher's class.
    agreement_ : Agreement
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
    agreement_: Agreement = field(init=False)
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
        return np.asarray(expit(predict_log_odds(self._network, X)))


@torch.inference_mode()
def predict_log_odds(network: Perceptron, X: NDArray[Any]) -> Floats:
    """Return the output of the network for every row of an encoded matrix."""
    found = np.empty(len(X))
    with one_thread():  # the chunks are too small for several
        for start in range(0, len(X), CHUNK_ROWS):
            rows = np.ascontiguousarray(X[start : start + CHUNK_ROWS], dtype=np.float64)
            chunk = network.scale(torch.from_numpy(rows))
            n_rows = len(chunk)
            if n_rows < CHUNK_ROWS:
                chunk = F.pad(chunk, (0, 0, 0, CHUNK_ROWS - n_rows))
            found[start : start + n_rows] = network(chunk)[:n_rows].numpy()
    return found
