"""Progress on standard error; what a terminal shows disappears at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from imboost.present.formatting import printable

NAME = TextColumn("{task.description}", markup=False)


@contextmanager
def row_bar(verb: str, n_rows: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar with rows done, rows per second and the time left; yield what advances it."""
    columns = (NAME, BarColumn(), _Rows(), TimeElapsedColumn(), TimeRemainingColumn())
    with _on_terminal(*columns) as progress:
        yield partial(progress.advance, progress.add_task(verb, total=n_rows))


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Show a spinner with a description and the time elapsed."""
    with _on_terminal(SpinnerColumn(), NAME, TimeElapsedColumn()) as progress:
        progress.add_task(printable(name), total=None)
        yield


def _on_terminal(*columns: ProgressColumn) -> Progress:
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


class _Rows(ProgressColumn):
    """Rows done, rows in total and rows per second."""

    def render(self, task: Task) -> Text:
        total = f" of {task.total:,.0f}" if task.total else ""
        speed = f", {task.speed:,.0f} per second" if task.speed else ""
        return Text(f"{task.completed:,.0f}{total} rows{speed}")
