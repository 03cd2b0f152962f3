"""`imboost export`: a distilled model, or a model in a format that other programs run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.console import say
from imboost.cli.inputs import check_model_output, load_model
from imboost.cli.options import Encoding, Header, Model, Sheet, Sql, read_options
from imboost.cli.progress import stage
from imboost.errors import SettingError

if TYPE_CHECKING:
    from imboost.detectors import BaseDetector
    from imboost.detectors.table_detector import TableDetector
    from imboost.tables.read_options import ReadOptions


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
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the distilled model. Default: beside the model, as NAME.fast.model.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model.")] = False,
    encoding: Encoding = None,
    header: Header = None,
    sheet: Sheet = None,
    sql: Sql = None,
) -> None:
    """Write a distilled model that scores many times faster, or a model in ONNX format.

    For example:

      imboost export orders.model --fast --data orders.csv

      imboost export orders.fast.model --onnx orders.onnx
    """
    from imboost import persistence

    options = read_options(encoding, header, sheet, sql)
    if not fast:
        if onnx is None:
            raise SettingError("Nothing to write: give --onnx FILE, or --fast with --data DATA.")
        for name, value in (("--data", data), ("--out", out), ("--force", force or None)):
            if value is not None:
                raise SettingError(f"{name} needs --fast.")
        _write_onnx(persistence.load(model), onnx)
        return
    if data is None:
        raise SettingError(
            "--fast needs --data, a table with the columns of the training table, best that table."
        )
    name = model.resolve().name.removesuffix(".model")
    out = out or model.resolve().with_name(f"{name}.fast.model")
    check_model_output(out, force)
    student = _distill(load_model(model), data, options)
    with stage(f"writing {out}"):
        persistence.save(student, out)
    say(f"Model: {out}")
    if onnx is not None:
        _write_onnx(student, onnx)


def _distill(detector: TableDetector, data: Path, options: ReadOptions) -> TableDetector:
    """Return the distilled model, and print how it agrees with the model."""
    from imboost.tables.files import TableFiles

    with stage(f"reading {data}"):
        table = TableFiles.find(data, options).read()
    with stage("distilling"):
        student = detector.distill(table)
    agreement = student.detector_.agreement_
    say(f"Agreement on {agreement.n_rows:,} rows kept aside: {agreement}.")
    if detector.rules_ is not None and detector.rules_.columns:
        say("The distilled model does not check the rules between columns of the model.")
    return student


def _write_onnx(detector: TableDetector | BaseDetector, path: Path) -> None:
    from imboost.onnx import export_onnx
    from imboost.persistence.atomic_write import atomic_write

    with stage(f"writing {path}"), atomic_write(path) as draft:
        export_onnx(detector, draft)
    say(f"wrote {path}")
