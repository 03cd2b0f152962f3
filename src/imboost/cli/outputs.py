"""Outputs of commands: pages and text files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_page(path: Path, template: str, context: Mapping[str, Any]) -> None:
    """Fill a template and write the page atomically."""
    from imboost.reporting import render

    write_text(path, render(template, context))


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    from imboost.persistence.atomic_write import atomic_write

    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")
