"""Lines on the terminal as they are: no markup, no colours, no breaks within names of files."""

from __future__ import annotations

from rich.console import Console


def say(*lines: str) -> None:
    """Print lines for a reader."""
    console = Console()
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def rows(n: int) -> str:
    """Write how many rows there are.

    >>> rows(1), rows(2000)
    ('1 row', '2,000 rows')
    """
    return f"{n:,} row{'s' * (n != 1)}"


def called(n: int, threshold: float, among: int | None = None) -> str:
    """Say how many rows are called outliers.

    >>> called(1, 0.5), called(2, 0.5, 80)
    ('1 row scores above 0.5 and is called an outlier.', '2 of 80 rows score above 0.5 and are \
called outliers.')
    """
    subject = rows(n) if among is None else f"{n:,} of {rows(among)}"
    if n == 1:
        return f"{subject} scores above {threshold:.4g} and is called an outlier."
    return f"{subject} score above {threshold:.4g} and are called outliers."
