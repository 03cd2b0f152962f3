"""Outputs of commands: pages, text files and standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from imboost.present.formatting import printable


def write_page(path: Path, template: str, context: Mapping[str, Any]) -> None:
    """Fill a template and write the page atomically."""
    from imboost.present.pages import render

    write_text(path, render(template, context))


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    from imboost.persistence.atomic_write import atomic_write

    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")


@contextmanager
def output_file(path: Path, ending: str) -> Iterator[Path]:
    """Yield a draft path; the file written there appears at `path`, complete or not at all.

    The path "-" is standard output; its draft has the given ending.
    """
    from imboost.persistence.atomic_write import atomic_write
    from imboost.tables.read_options import STANDARD_STREAM

    if path != STANDARD_STREAM:
        with atomic_write(path) as draft:
            yield draft
        return
    with TemporaryDirectory(prefix="imboost-") as folder:
        draft = Path(folder, f"output{ending}")
        yield draft
        _copy_to_standard_output(draft)


def _copy_to_standard_output(path: Path) -> None:
    """Print a text file; on a terminal without characters that could control it."""
    is_terminal = sys.stdout.isatty()
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            for line in lines:
                sys.stdout.write(f"{printable(line.rstrip())}\n" if is_terminal else line)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough; Python would complain at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
