"""Progress bars on standard error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from rich.console import Console, RenderableType
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

from imboost.present.formatting import printable

LAST_FRACTION = 0.99  # of a bar whose stage takes longer than estimated


def progress_bar(console: Console | None = None) -> Progress:
    """Return a bar with the number of finished tasks and the time elapsed."""
    return Progress(
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console or Console(stderr=True),
    )


@contextmanager
def row_bar(verb: str, n_rows: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar with rows done, rows per second and the time left; yield what advances it."""
    with _on_terminal(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        _Rows(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    ) as progress:
        yield partial(progress.advance, progress.add_task(verb, total=n_rows))


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Show a spinner with a description and the time elapsed."""
    with _on_terminal(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    ) as progress:
        progress.add_task(printable(name), total=None)
        yield


@contextmanager
def timed_stage(name: str, seconds: float | None) -> Iterator[None]:
    """Show a bar with the time left of a stage that takes about `seconds`; None is unknown."""
    if seconds is None:
        with stage(name):
            yield
        return
    with _on_terminal(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        _TimeLeft(),
        kind=_TimedProgress,
    ) as progress:
        progress.add_task(printable(name), total=seconds)
        yield


def is_shown() -> bool:
    """Whether bars are shown: on terminals only."""
    return Console(stderr=True).is_terminal


def _on_terminal(*columns: ProgressColumn, kind: type[Progress] = Progress) -> Progress:
    """Return a bar that disappears at the end and is shown only on terminals."""
    console = Console(stderr=True)
    return kind(*columns, console=console, transient=True, disable=not console.is_terminal)


class _TimedProgress(Progress):
    """A bar that moves with the time; it stays short of its end until the stage is over."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            task.completed = min(task.elapsed or 0.0, LAST_FRACTION * (task.total or 0.0))
        yield from super().get_renderables()


class _TimeLeft(ProgressColumn):
    """The estimated time left."""

    def render(self, task: Task) -> Text:
        left = (task.total or 0.0) - (task.elapsed or 0.0)
        return Text(f"about {timedelta(seconds=math.ceil(left))} left" if left > 0 else "")


class _Rows(ProgressColumn):
    """Rows done, rows in total and rows per second."""

    def render(self, task: Task) -> Text:
        total = f" of {task.total:,.0f}" if task.total else ""
        speed = f", {task.speed:,.0f} per second" if task.speed else ""
        return Text(f"{task.completed:,.0f}{total} rows{speed}")
