"""`imboost export`: a model in a format that other programs run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from imboost.cli.options import Model


def export(
    model: Model,
    onnx: Annotated[Path, typer.Option(help="ONNX file to write.")],
) -> None:
    """Write a model in ONNX format, to run it without this package."""
    from imboost import persistence
    from imboost.onnx import export_onnx
    from imboost.persistence.atomic_write import atomic_write

    detector = persistence.load(model)
    with atomic_write(onnx) as draft:
        export_onnx(detector, draft)
    typer.echo(f"wrote {onnx}")
