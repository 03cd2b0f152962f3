"""The labelling page without a browser: questions, answers and progress in a terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from imboost.errors import SessionError, StoreError
from imboost.labelling.cards import panel_view, question_view
from imboost.labelling.workspace import Workspace
from imboost.present.formatting import count, cut, duration, number, percent, printable, shorten
from imboost.present.rows import CellView, QuestionView
from imboost.session import Answer

MAX_GROUP_ROWS = 5  # rows of a group that are listed
MAX_VALUE_LENGTH = 200  # characters of a cell
POLL_SECONDS = 0.1  # between two looks for new questions
MAX_TRAINING_SECONDS = 3600.0

ANSWERS = {"o": Answer.OUTLIER, "i": Answer.INLIER, "u": Answer.UNSURE, "s": Answer.SKIP}
ESCAPE = b"\x1b"  # begins the sequences that arrow and function keys send
MAX_KEY_BYTES = 64
WORDS = {answer.value: answer.value[0] for answer in Answer}
GROUP_ANSWERS = {"O": Answer.OUTLIER, "I": Answer.INLIER}
HELP = (
    ("o", "the row is an outlier"),
    ("i", "the row is an inlier"),
    ("u", "unsure: the row stays unlabelled and is not asked again"),
    ("s", "skip: the row may be asked again in a later round"),
    ("O I", "the same answer for the row and all rows of its group"),
    ("n", "next: another question; this one comes again later"),
    ("z", "undo the last answer"),
    ("?", "this help"),
    ("q", "quit; all answers are stored already"),
)
KEYS = "o outlier  i inlier  u unsure  s skip{group}  n next  z undo  ? help  q quit"


class Terminal:
    """Asks the questions of a started workspace in a terminal; `read_keys` yields its keys.

    No text of the table can control the terminal: control characters are left out. With
    `waits_for_training`, a training that is due ends before the next question: a script gets the
    same questions in every run.
    """

    def __init__(
        self,
        workspace: Workspace,
        keys: Iterable[str],
        *,
        who: str = "",
        console: Console | None = None,
        waits_for_training: bool = False,
    ) -> None:
        self._workspace = workspace
        self._keys = iter(keys)
        self._who = who
        self._console = console or Console(highlight=False)
        self._waits_for_training = waits_for_training

    def run(self) -> None:
        """Ask until the person quits, the input ends or no row is left."""
        for row in self._questions():
            question = question_view(self._workspace, row, explain=True, is_asked=True)
            self._console.print(_card(question))
            self._console.print(_status(panel_view(self._workspace)))
            group = "" if question.group is None else f"  O I all {len(question.group.rows) + 1:,}"
            self._console.print(KEYS.format(group=group), style="dim")
            key = next(self._keys, "q")
            while not self._act(key, question):
                key = next(self._keys, "q")
            if key == "q":
                return
        self._say(self._workspace.error or "No row is left to ask about.")

    def _questions(self) -> Iterator[int]:
        """Yield the question to show next, until no row is left; wait while there is none."""
        workspace = self._workspace
        self._wait_for_first_training()
        while not workspace.error:
            if self._waits_for_training:
                workspace.wait_until_idle(MAX_TRAINING_SECONDS)
            row = workspace.take_question(self._who)
            if row is not None:
                yield row
            elif workspace.session.open_questions or workspace.session.n_left:
                time.sleep(POLL_SECONDS)
            else:
                return

    def _wait_for_first_training(self) -> None:
        workspace = self._workspace
        with self._console.status("reading the columns") as status:
            while not workspace.is_ready and not workspace.error:
                if (training := workspace.training) is not None:
                    seconds = training.seconds_left
                    left = "" if seconds is None else f", {duration(seconds)} left"
                    status.update(f"{training.text}{left}")
                time.sleep(POLL_SECONDS)

    def _act(self, key: str, question: QuestionView) -> bool:
        """Do what a key asks for; return whether to go on to the next question."""
        rows, answer = [question.row], ANSWERS.get(key)
        if question.group is not None and key in GROUP_ANSWERS:
            rows += [other.row for other in question.group.rows]
            answer = GROUP_ANSWERS[key]
        try:
            if answer is not None:
                self._workspace.answer(rows, answer, who=self._who, request=question.request)
                others = f", and {count(len(rows) - 1, 'row')} like it" if rows[1:] else ""
                self._say(f"{question.name}: {answer}{others}")
            elif key == "z":
                self._workspace.undo(self._who)
            elif key == "n":
                self._workspace.leases.pass_over(question.row, self._who)
            elif key != "q":
                table = Table.grid(padding=(0, 2))
                for row in HELP:
                    table.add_row(*row)
                self._console.print(table)
                return False
        except StoreError as error:
            self._say(f"Not saved: {error}")
            return False
        except SessionError as error:
            self._say(str(error))
        return True

    def _say(self, text: str) -> None:
        self._console.print(Text(printable(text)))


def _card(question: QuestionView) -> Group:
    """Return a row as it is shown: first the cells that make it unusual, then the others."""
    title = Text("\n")
    title.append(printable(question.name), "bold")
    rank = f"rank {question.rank:,} of {count(question.n_rows, 'row')}"
    title.append(
        f"   score {number(question.score)}, {rank}, probability {percent(question.probability)}"
    )
    parts: list[Text | Table] = [title, Text(printable(question.origin), "dim")]
    if question.reasons:
        parts.append(_reasons(question.unusual_cells))
    parts.append(_other_cells(question.other_cells))
    for one in question.similar:
        cells = [f"{_short(cell.column)} {_cell(cell.text)}" for cell in one.cells]
        text = f"Similar: {printable(one.name)}, answered {one.answer}"
        parts.append(Text(", ".join([text, *cells])))
    if question.group is not None:
        n, reason = len(question.group.rows), question.group.reason
        verb = "row looks" if n == 1 else "rows look"
        parts.append(Text(printable(f"{n:,} more {verb} like this one: {reason}"), "bold"))
        parts += [
            Text(f"  {printable(row.name)}   {', '.join(_cell(cell.text) for cell in row.cells)}")
            for row in question.group.rows[:MAX_GROUP_ROWS]
        ]
        if n > MAX_GROUP_ROWS:
            parts.append(Text(f"  and {n - MAX_GROUP_ROWS:,} more"))
    return Group(*parts)


def _reasons(reasons: list[CellView]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 2, 0, 0))
    for heading in ("column", "value", "expected", "position"):
        table.add_column(heading, overflow="fold")
    for cell in reasons:
        table.add_row(
            Text(_short(cell.subject)),
            Text("" if cell.is_row else _cell(cell.text), "bold"),
            Text(_short(cell.expected)),
            Text(printable(cell.position)),
        )
    return table


def _other_cells(cells: list[CellView]) -> Text:
    text = Text()
    for cell in cells:
        text.append(f"{_short(cell.column)} ", "dim")
        text.append(f"{_cell(cell.text)}   ")
    return text


def _status(panel: dict[str, Any]) -> Text:
    counts, training = panel["counts"], panel["training"]
    parts = [
        f"Round {panel['round']}",
        count(counts.total(), "answer"),
        f"{count(counts[Answer.OUTLIER], 'outlier')} found",
        training.text if training else "",
        panel["error"],
        panel["advice"],
    ]
    return Text(printable(" · ".join(filter(None, parts))), "cyan")


def _cell(value: str | None) -> str:
    return _short(shorten(value or "(missing)"))


def _short(text: str) -> str:
    return cut(printable(text), MAX_VALUE_LENGTH)


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
