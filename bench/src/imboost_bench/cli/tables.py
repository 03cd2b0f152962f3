"""Tables in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table as TerminalTable

if TYPE_CHECKING:
    from imboost_bench.report.report_table import Table


def print_table(table: Table, title: str | None = None) -> None:
    """Print a table; numbers are aligned to the right, and long names are folded."""
    from imboost_bench.report.formatting import format_value

    shown = TerminalTable(title=title, title_justify="left")
    for name, kind in table.columns:
        is_text = kind in ("text", "prose")
        shown.add_column(name, justify="left" if is_text else "right", overflow="fold")
    kinds = [kind for _, kind in table.columns]
    for row in table.rows:
        shown.add_row(*map(format_value, row, kinds))
    Console().print(shown, highlight=False)
