"""`imboost export`: a distilled model, or a model in a format that other programs run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.console import say
from imboost.cli.inputs import check_model_output, load_model, read_training_rows
from imboost.cli.options import (
    Engine,
    Force,
    LabelColumn,
    Model,
    RayAddress,
    reads_tables,
)
from imboost.cli.progress import stage
from imboost.errors import SettingError
from imboost.present.formatting import count
from imboost.tables.read_options import ReadOptions

if TYPE_CHECKING:
    from imboost.detectors import BaseDetector
    from imboost.detectors.table_detector import TableDetector


@reads_tables
def export(
    model: Model,
    onnx: Annotated[Path | None, typer.Option(metavar="FILE", help="ONNX file to write.")] = None,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="Distill the model into a small network with nearly the same scores, and write "
            "it as a model folder. --data must name a table.",
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Table for --fast, best the training table: a saved model does not contain it.",
        ),
    ] = None,
    label_column: LabelColumn = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the distilled model. Default: beside the model, as NAME.fast.model.",
        ),
    ] = None,
    force: Force = False,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    *,
    options: ReadOptions,
) -> None:
    """Write a distilled model that scores many times faster, or a model in ONNX format.

    For example:

      imboost export orders.model --fast --data orders.csv

      imboost export orders.fast.model --onnx orders.onnx
    """
    from imboost import persistence

    if not fast:
        if onnx is None:
            raise SettingError("Nothing to write: give --onnx FILE, or --fast with --data DATA.")
        unused = {
            "--data": data is not None,
            "--label-column": label_column is not None,
            "--out": out is not None,
            "--force": force,
            "--engine": engine != "local",
            "--ray-address": ray_address is not None,
        }
        for name, is_given in unused.items():
            if is_given:
                raise SettingError(f"{name} needs --fast.")
        _write_onnx(persistence.load(model), onnx)
        return
    if data is None:
        raise SettingError(
            "--fast needs --data, a table with the columns of the training table, best that table."
        )
    from imboost.detectors.distilled import MAX_ROWS

    name = model.resolve().name.removesuffix(".model")
    out = out or model.resolve().with_name(f"{name}.fast.model")
    check_model_output(out, force)
    teacher = load_model(model)
    # The seed of the training draws the training rows again, if the table is the same.
    seed = teacher.random_state if isinstance(teacher.random_state, int) else 0
    sample = read_training_rows(data, options, seed, label_column, engine, ray_address)
    with stage("distilling"):
        student = teacher.distill(sample.table)
    agreement = student.detector_.agreement_
    say(
        f"Read {count(sample.n_rows, 'row')}, used {min(sample.table.num_rows, MAX_ROWS):,}.",
        f"Agreement on {agreement.n_rows:,} held-out rows: {agreement}.",
    )
    if teacher.rules_ is not None and teacher.rules_.columns:
        say("The distilled model does not check the rules between columns of the model.")
    with stage(f"writing {out}"):
        persistence.save(student, out)
    say(f"Model: {out}")
    if onnx is not None:
        _write_onnx(student, onnx)


def _write_onnx(detector: TableDetector | BaseDetector, path: Path) -> None:
    from imboost.onnx import export_onnx
    from imboost.persistence.atomic_write import atomic_write

    with stage(f"writing {path}"), atomic_write(path) as draft:
        export_onnx(detector, draft)
    say(f"wrote {path}")
