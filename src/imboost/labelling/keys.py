"""Keys from a terminal, one by one; or answers from another input, one per line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TextIO

from imboost.session import Answer

ESCAPE = b"\x1b"  # begins the sequences that arrow and function keys send
MAX_KEY_BYTES = 64
WORDS = {answer.value: answer.value[0] for answer in Answer}


def read_keys(stream: TextIO) -> Iterator[str]:
    """Yield keys as they are pressed; from anything but a terminal, the key on each line.

    A line may also be the word of an answer, such as "outlier".
    """
    if stream.isatty() and find_spec("termios"):  # where there is none, lines are read
        yield from _read_terminal(stream.fileno())
    else:
        for line in stream:
            if word := line.strip():
                yield WORDS.get(word.lower(), word) if len(word) > 1 else word


def _read_terminal(fd: int) -> Iterator[str]:
    import termios
    import tty

    while True:
        before = termios.tcgetattr(fd)
        try:
            tty.setcbreak(fd)  # discards keys that were pressed before the question was shown
            pressed = os.read(fd, MAX_KEY_BYTES)
        finally:
            termios.tcsetattr(fd, termios.TCSADRAIN, before)
        if not pressed or pressed == b"\x04":  # the end of the input, or Ctrl+D
            return
        if not pressed.startswith(ESCAPE):
            yield pressed.decode(errors="ignore")[:1]
