"""Keys of a terminal, and answers from a file."""

import io
import os
import select

import pytest

from imboost.labelling.terminal import read_keys

pty = pytest.importorskip("pty")


def test_a_file_has_an_answer_per_line():
    lines = "o\nOutlier\n\nO\n inlier \nskip\nunsure\nq\nwhat\n"
    assert list(read_keys(io.StringIO(lines))) == ["o", "o", "O", "i", "s", "u", "q", "what"]


@pytest.fixture
def terminal():
    """The keyboard's end of a terminal, and the program's."""
    keyboard, program = pty.openpty()
    with os.fdopen(program, "r") as stream:
        yield keyboard, stream
    os.close(keyboard)


def press_when_asked(monkeypatch, keyboard, *presses):
    """Press keys one after the other, each when the program waits for one."""
    import tty

    waiting = iter(presses)
    set_mode = tty.setcbreak

    def set_and_press(fd, *args):
        set_mode(fd, *args)
        os.write(keyboard, next(waiting))

    monkeypatch.setattr(tty, "setcbreak", set_and_press)


def test_a_terminal_needs_no_enter(terminal, monkeypatch):
    keyboard, stream = terminal
    press_when_asked(monkeypatch, keyboard, b"o", b"I", "ü".encode(), b"\x04")
    assert list(read_keys(stream)) == ["o", "I", "ü"]


def test_function_and_arrow_keys_are_no_answers(terminal, monkeypatch):
    keyboard, stream = terminal
    press_when_asked(monkeypatch, keyboard, b"\x1bOP", b"\x1b[A", b"s", b"\x04")
    assert list(read_keys(stream)) == ["s"]


def test_keys_pressed_before_the_question_do_not_count(terminal, monkeypatch):
    keyboard, stream = terminal
    os.write(keyboard, b"ooo\n")
    assert select.select([stream], [], [], 30)[0]  # they have arrived
    press_when_asked(monkeypatch, keyboard, b"i", b"\x04")
    assert list(read_keys(stream)) == ["i"]


def test_the_terminal_is_left_as_it_was(terminal, monkeypatch):
    import termios

    keyboard, stream = terminal
    before = termios.tcgetattr(stream.fileno())
    press_when_asked(monkeypatch, keyboard, b"o", b"\x04")
    list(read_keys(stream))
    assert termios.tcgetattr(stream.fileno()) == before
