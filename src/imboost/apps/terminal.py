"""Lines on the terminal as they are: no markup, no colours, no breaks within names of files."""

from __future__ import annotations

from rich.console import Console


def say(*lines: str) -> None:
    """Print lines for a reader."""
    console = Console()
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
