"""Progress bars on standard error."""

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

from imboost.reporting.formatting import printable


def progress_bar(console: Console | None = None) -> Progress:
    """Return a bar with the number of finished tasks and the time elapsed."""
    return Progress(
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console or Console(stderr=True),
    )


def row_bar() -> Progress:
    """Return a bar with rows done, rows per second and, if it is known, the time left."""
    return _on_terminal(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        _Rows(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Show a spinner with a description and the time elapsed."""
    with _on_terminal(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    ) as progress:
        progress.add_task(printable(name), total=None)
        yield


def _on_terminal(*columns: ProgressColumn) -> Progress:
    """Return a bar that disappears at the end and is shown only on terminals."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


class _Rows(ProgressColumn):
    """Rows done, rows in total and rows per second."""

    def render(self, task: Task) -> Text:
        total = f" of {task.total:,.0f}" if task.total else ""
        speed = f", {task.speed:,.0f} per second" if task.speed else ""
        return Text(f"{task.completed:,.0f}{total} rows{speed}")
