"""Trains the model of a session in a process of its own, which lives as long as the session."""

from __future__ import annotations

import logging
import os
import pickle
import signal
from collections.abc import Sequence
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

from imboost.detectors.detector import Detector
from imboost.errors import IMBoostError, SettingError, TrainingError
from imboost.explain import Explanation
from imboost.session.state import TrainingSet
from imboost.session.trainer import LocalTrainer

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

NICENESS = 10  # of the process; 0 is normal, 19 the lowest priority
LOST = (
    "The training process ended unexpectedly{code}; the memory may not suffice. All answers are "
    "stored."
)


class WorkerTrainer:
    """Lets another process train, so that this one answers people without delay.

    The process is started by the first call, and again by the next call if it was killed; it then
    trains from the beginning. Calls come from one thread at a time.

    Parameters
    ----------
    trainer : LocalTrainer
        Copied to the process.
    """

    def __init__(self, trainer: LocalTrainer) -> None:
        self._trainer = trainer
        self._process: BaseProcess | None = None
        self._is_closed = False

    def train(self, training_sets: Sequence[TrainingSet]) -> Detector:
        """Return the detector trained with all rounds so far.

        Raises
        ------
        TrainingError
            If the process has ended.
        """
        return cast("Detector", self._call("train", training_sets))

    def explain(self, positions: Sequence[int]) -> list[Explanation]:
        """Return explanations of rows by the last model of the process."""
        return cast("list[Explanation]", self._call("explain", positions))

    def estimate_seconds(self) -> float | None:
        """Return the expected seconds of the first training; None if they are not known."""
        return cast("float | None", self._call("estimate_seconds"))

    def close(self) -> None:
        """End the process, also during a training."""
        self._is_closed = True
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def _call(self, method: str, *arguments: Any) -> Any:
        if self._process is None or not self._process.is_alive():
            self._start()
        try:
            _send(self._pipe, (method, arguments))
            result = _receive(self._pipe)
        except (EOFError, OSError):
            process = cast("BaseProcess", self._process)
            process.join()
            code = f" (exit code {process.exitcode})" if process.exitcode else ""
            raise TrainingError(LOST.format(code=code)) from None
        if isinstance(result, Exception):
            raise result
        return result

    def _start(self) -> None:
        if self._is_closed:
            raise TrainingError("The session is closed.")
        context = get_context("spawn")  # a fork would copy the locks of other threads
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_work, args=(theirs, self._trainer), name="imboost-training", daemon=True
        )
        self._process.start()
        theirs.close()


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
