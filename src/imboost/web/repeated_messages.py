"""A log that clients cannot flood."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic

QUIET_SECONDS = 60.0  # a message of one kind is logged at most once in this time


class RepeatedMessages(logging.Filter):
    """Lets one message of each kind pass per minute; the next one says how many were left out.

    Messages are of one kind if they have the same text before formatting and, for exceptions, the
    same origin.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._passed: dict[Hashable, float] = {}
        self._n_left_out: dict[Hashable, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a message is logged."""
        kind, now = _kind(record), self._clock()
        if kind in self._passed and now - self._passed[kind] < QUIET_SECONDS:
            self._n_left_out[kind] = self._n_left_out.get(kind, 0) + 1
            return False
        self._passed[kind] = now
        n_left_out = self._n_left_out.pop(kind, 0)
        if n_left_out:
            text = f"{record.getMessage()} ({n_left_out:,} more such messages were left out)"
            record.msg, record.args = text, ()
        return True


@contextmanager
def without_repeats(names: Iterable[str]) -> Iterator[None]:
    """Limit the messages of loggers while the context is open."""
    loggers, limit = [logging.getLogger(name) for name in names], RepeatedMessages()
    for logger in loggers:
        logger.addFilter(limit)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(limit)


def _kind(record: logging.LogRecord) -> Hashable:
    first_line = str(record.msg).partition("\n")[0]
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return first_line
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else None
    return first_line, type(error), place
