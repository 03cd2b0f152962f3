"""What commands write: default paths and pages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def default_output(data: Path, ending: str) -> Path:
    """Return the path of a data file with another ending.

    >>> default_output(Path("shop/orders.csv.gz"), ".model").as_posix()
    'shop/orders.model'
    """
    from imboost.tables.files import CSV_ENDINGS, PARQUET_ENDINGS

    data = data.resolve() if data.name in ("", "..") else data
    name = data.name
    for known in sorted(CSV_ENDINGS + PARQUET_ENDINGS, key=len, reverse=True):
        if name.lower().endswith(known):
            name = name[: -len(known)]
            break
    return data.with_name(name + ending)


def write_page(path: Path, template: str, context: Mapping[str, Any]) -> None:
    """Fill a template and write the page atomically."""
    from imboost.reporting import render

    write_text(path, render(template, context))


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    from imboost.persistence.atomic_write import atomic_write

    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")
