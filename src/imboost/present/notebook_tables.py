"""Small tables for notebooks, in the notebook's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

# Colours are those of the notebook, so that light and dark ones are both readable.
CELL = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;background:none;color:inherit"
SOFT = "opacity:.7"
BOLD = "font-weight:bold"


def notebook_table(
    heading: Sequence[str], rows: Sequence[Sequence[str]], bold: int | None = None
) -> str:
    """Return a table as HTML, or nothing if it has no rows; all text is escaped.

    The column with the number `bold` is in bold type.

    >>> "<script>" in notebook_table(["name"], [["<script>"]])
    False
    """
    if not rows:
        return ""
    head = "".join(_cell(name, SOFT) for name in heading)
    lines = [
        "".join(_cell(text, BOLD if at == bold else "") for at, text in enumerate(row))
        for row in rows
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><tr>{head}</tr>{body}</table>"


def notebook_title(text: str) -> str:
    """Return a title as HTML."""
    return f"<p><b>{escape(text)}</b></p>"


def notebook_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Return names and values as a paragraph of HTML, separated by commas."""
    written = (
        f'<span style="{SOFT}">{escape(name)}</span> {escape(text)}' for name, text in pairs
    )
    return f"<p>{', '.join(written)}</p>"


def _cell(text: str, style: str) -> str:
    return f'<td style="{CELL};{style}">{escape(text)}</td>'
