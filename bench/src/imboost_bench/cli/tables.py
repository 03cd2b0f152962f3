"""Tables in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table as TerminalTable

if TYPE_CHECKING:
    from imboost_bench.report.tables import Table


def print_table(table: Table, title: str | None = None) -> None:
    """Print a table; numbers are aligned to the right, and long names are folded."""
    shown = TerminalTable(title=title, title_justify="left")
    for name, kind in table.columns:
        is_text = kind in ("text", "prose")
        shown.add_column(name, justify="left" if is_text else "right", overflow="fold")
    for texts in table.texts:
        shown.add_row(*texts)
    Console().print(shown, highlight=False)
