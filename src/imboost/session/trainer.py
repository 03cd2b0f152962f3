"""Trains the model of a session, in the calling thread or in a process that does nothing else."""

from __future__ import annotations

import logging
import os
import pickle
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from imboost.arrays import Floats, Indices
from imboost.detectors.detector import Detector
from imboost.errors import IMBoostError, SettingError, TrainingError
from imboost.explain import Explanation
from imboost.session.rows import RowIds
from imboost.session.state import TrainingSet

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector

NICENESS = 10  # of the training process; 0 is normal, 19 the lowest priority
LOST = (
    "The training process ended unexpectedly{code}; the memory may not suffice. All answers are "
    "stored."
)


@dataclass(frozen=True, eq=False)
class Model:
    """A trained detector, the number of its rounds, and what follows from its scores."""

    detector: Detector
    n_trainings: int

    @cached_property
    def ranks(self) -> Indices:
        """The rank of every row in the complete table; 1 is the highest score, ties share it."""
        return rank(self.detector.decision_scores_, self.detector.decision_.weights)

    def score_and_rank(self, position: int) -> tuple[float, int]:
        """Return the score of the row at a position, and its rank."""
        return float(self.detector.decision_scores_[position]), int(self.ranks[position])


def rank(scores: Floats, weights: Floats | None = None) -> Indices:
    """Return competition ranks: 1 plus the number of rows with a higher score.

    >>> rank(np.array([0.9, 0.5, 0.5, 0.1])).tolist()
    [1, 2, 2, 4]
    """
    levels, level_of_row = np.unique(scores, return_inverse=True)
    counts = np.bincount(level_of_row, weights, minlength=len(levels))
    n_above = counts.sum() - np.cumsum(counts)
    ranks: Indices = np.round(n_above).astype(np.int64)[level_of_row] + 1
    return ranks


class LocalTrainer:
    """Trains copies of a detector on the rows of a session, in the calling thread."""

    def __init__(self, detector: Detector, X: Any, rows: RowIds) -> None:
        self._unfitted, self._X, self._rows = detector, X, rows
        self._model: Detector | None = None
        self._trained_with: list[int] = []  # numbers of entries of the training sets

    def train(self, training_sets: Sequence[TrainingSet]) -> Detector:
        """Return the detector trained with all rounds so far.

        Only rounds that the last model does not know are trained; of a detector whose history
        does not matter, only the last round.
        """
        is_history = self._unfitted.refine_depends_on_history
        wanted = training_sets if is_history else training_sets[-1:]
        numbers = [one.n_entries for one in wanted]
        model, n_known = self._model, len(self._trained_with)
        if model is None or (is_history and numbers[:n_known] != self._trained_with):
            model = self._unfitted.copy().fit(self._X, weights=self._rows.weights())
            self._model, self._trained_with, n_known = model, [], 0
        if numbers == self._trained_with:
            return model
        model = model.copy()
        for training_set in wanted[n_known:] if is_history else wanted:
            labels = self._rows.labels(training_set.labels)
            is_audit = np.zeros(len(labels), dtype=bool)
            is_audit[self._rows.positions(training_set.audited)] = True
            weights = self._rows.weights(labels)
            model.refine(self._X, labels, is_audit=is_audit, weights=weights)
        self._model, self._trained_with = model, numbers
        return model

    def explain(self, positions: Sequence[int]) -> list[Explanation]:
        """Return explanations of rows of an Arrow table by the last model."""
        if self._model is None:
            raise TrainingError("There is no model yet that could explain rows.")
        return cast("TableDetector", self._model).explain(self._X.take(positions))

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


class WorkerTrainer:
    """Lets another process train, so that this one answers people without delay.

    The process is started by the first call, and again by the next call if it was killed; it then
    trains from the beginning. Calls come from one thread at a time. They do what those of the
    trainer do, which is copied to the process, and raise a TrainingError if the process ends.
    """

    def __init__(self, trainer: LocalTrainer) -> None:
        self._trainer = trainer
        self._process: BaseProcess | None = None
        self._is_closed = False

    def train(self, training_sets: Sequence[TrainingSet]) -> Detector:
        """Return the detector trained with all rounds so far."""
        return cast("Detector", self._call("train", training_sets))

    def explain(self, positions: Sequence[int]) -> list[Explanation]:
        """Return explanations of rows by the last model of the process."""
        return cast("list[Explanation]", self._call("explain", positions))

    def close(self) -> None:
        """End the process, also during a training."""
        self._is_closed = True
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def _call(self, method: str, *arguments: Any) -> Any:
        process = self._process
        if process is None or not process.is_alive():
            process = self._start()
        try:
            _send(self._pipe, (method, arguments))
            result = _receive(self._pipe)
        except (EOFError, OSError):
            process.join()
            code = f" (exit code {process.exitcode})" if process.exitcode else ""
            raise TrainingError(LOST.format(code=code)) from None
        if isinstance(result, Exception):
            raise result
        return result

    def _start(self) -> BaseProcess:
        if self._is_closed:
            raise TrainingError("The session is closed.")
        context = get_context("spawn")  # a fork would copy the locks of other threads
        self._pipe, theirs = context.Pipe()
        self._process = process = context.Process(
            target=_work, args=(theirs, self._trainer), name="imboost-training", daemon=True
        )
        process.start()
        theirs.close()
        return process


def _work(pipe: Connection, trainer: LocalTrainer) -> None:
    """Do what the session asks for until it ends or is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in the terminal is for the session
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        method, arguments = _receive(pipe)
        try:
            result = getattr(trainer, method)(*arguments)
        except SettingError as error:
            result = error
        except Exception as error:
            if not isinstance(error, IMBoostError):
                logging.getLogger(__name__).exception("The training failed.")
            result = TrainingError(str(error) or type(error).__name__)
        _send(pipe, result)


def _end_with_parent() -> None:
    """End this process when that of the session ends, also during a training."""
    if (parent := parent_process()) is not None:
        parent.join()
    signal.raise_signal(signal.SIGTERM)


def _send(pipe: Connection, value: Any) -> None:
    """Send an object with its arrays apart, so that the other side need not copy them."""
    arrays: list[pickle.PickleBuffer] = []
    content = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    pipe.send([array.raw().nbytes for array in arrays])
    pipe.send_bytes(content)
    for array in arrays:
        pipe.send_bytes(array.raw())


def _receive(pipe: Connection) -> Any:
    arrays = [bytearray(size) for size in pipe.recv()]
    content = pipe.recv_bytes()
    for array in arrays:
        pipe.recv_bytes_into(array)
    return pickle.loads(content, buffers=arrays)  # noqa: S301, from the other process alone
