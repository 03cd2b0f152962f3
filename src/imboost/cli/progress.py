"""How the program's long jobs show that they go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


def progress_bar(console: Console | None = None) -> Progress:
    """Return a bar with what is done, out of how much, and for how long."""
    return Progress(
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console or Console(stderr=True),
    )


def row_bar() -> Progress:
    """Return a bar with rows done, rows per second and the time left, where that is known."""
    return _on_terminal(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        _Rows(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Show the name of what is being done, and for how long, until it is done."""
    with _on_terminal(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    ) as progress:
        progress.add_task(name, total=None)
        yield


def _on_terminal(*columns: ProgressColumn) -> Progress:
    """Return what goes away when it is done, and is not shown in a log file."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


class _Rows(ProgressColumn):
    """Rows done, out of how many, and how many a second."""

    def render(self, task: Task) -> Text:
        total = f" of {task.total:,.0f}" if task.total else ""
        speed = f", {task.speed:,.0f} a second" if task.speed else ""
        return Text(f"{task.completed:,.0f}{total} rows{speed}")
