"""The commands that take a table from a file to scores, reasons and a service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from imboost.errors import SettingError

DEFAULT_DETECTOR = "stack"
MAX_SEED = 2**32 - 1  # numpy's and scikit-learn's limit

commands = typer.Typer()

Model = Annotated[Path, typer.Argument(help="Folder of a model that 'imboost fit' wrote.")]
Data = Annotated[
    Path, typer.Argument(help="CSV or Parquet file, or a folder of files of one of these kinds.")
]


@commands.command()
def fit(
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the model; beside the data, ending with .model, if not given."
        ),
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            help="Column with what is known of rows: 0 or 1, yes or no, true or false, inlier or "
            "outlier, normal or anomaly; an empty cell is a row that is not labelled."
        ),
    ] = None,
    outlier_word: Annotated[
        str | None,
        typer.Option(help="The label that means outlier, where labels are other words."),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(
            help="The role of a column, such as zip=categorical: numeric, categorical, boolean, "
            "datetime, identifier, constant, text or ignored; may be repeated. Roles that are "
            "not given are found."
        ),
    ] = None,
    detector: Annotated[
        str,
        typer.Option(
            help="What learns and scores: stack, the most accurate; imboost, altbi or odim, which "
            "score many times faster and explain rows too; trees, oc, sb or dsad."
        ),
    ] = DEFAULT_DETECTOR,
    scaling: Annotated[
        str, typer.Option(help="How numbers are scaled: robust, quantile or minmax.")
    ] = "robust",
    contamination: Annotated[
        str, typer.Option(help="Share of the rows to call outliers; auto to find it.")
    ] = "auto",
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of all randomness.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
) -> None:
    """Train on a table and write a model."""
    from imboost.cli.fit import FitSettings, fit_file, parse_contamination, parse_roles
    from imboost.persistence.atomic_file import beside

    settings = FitSettings(
        detector=detector,
        roles=parse_roles(role or ()),
        label_column=label_column,
        outlier_word=outlier_word,
        scaling=scaling,
        contamination=parse_contamination(contamination),
        seed=seed,
    )
    fit_file(data, out or beside(data, ".model"), settings, force=force)


@commands.command()
def score(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV or Parquet file for the scores; beside the data, of its kind, if not given."
        ),
    ] = None,
) -> None:
    """Score the rows of a table of any size."""
    from imboost.cli.score import score_file

    score_file(model, data, out)


@commands.command()
def explain(
    model: Model,
    data: Data,
    row: Annotated[
        list[str] | None,
        typer.Option(
            help="The row's identifier, or its number from 0 where there is no identifier; may "
            "be repeated. The highest scores if not given."
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many of the highest scores.")] = 3,
    out: Annotated[Path | None, typer.Option(help="HTML file to write as well.")] = None,
) -> None:
    """Say why rows score as they do, column by column."""
    from imboost.cli.explain import explain_file

    explain_file(model, data, rows=row or (), top=top, out=out)


@commands.command()
def report(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(help="HTML file; beside the data, ending with .report.html, if not given."),
    ] = None,
) -> None:
    """Write a page about the scores of a table, the rows on top and the data itself."""
    from imboost.cli.report import write_report
    from imboost.persistence.atomic_file import beside

    write_report(model, data, out or beside(data, ".report.html"))


@commands.command()
def export(
    model: Model,
    onnx: Annotated[Path, typer.Option(help="File for the model as ONNX.")],
) -> None:
    """Write a model in a form that other programs run."""
    from imboost import persistence
    from imboost.onnx import export_onnx
    from imboost.persistence.atomic_file import whole

    detector = persistence.load(model)
    with whole(onnx) as partial:
        export_onnx(detector, partial)
    typer.echo(f"wrote {onnx}")


@commands.command()
def serve(
    model: Model,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="IMBOOST_TOKEN",
            help="What clients must send as 'Authorization: Bearer TOKEN'; needed wherever the "
            "address can be reached from other machines.",
        ),
    ] = None,
    max_rows: Annotated[int, typer.Option(min=1, help="Rows of a request to /score.")] = 10_000,
    max_bytes: Annotated[int, typer.Option(min=1024, help="Size of a request.")] = 32
    * 1024
    * 1024,
    timeout: Annotated[float, typer.Option(help="Seconds that a request may take.")] = 30.0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Requests worked on at a time; one per core.")
    ] = None,
) -> None:
    """Score and explain rows that other programs send."""
    from imboost.cli.serve import serve_model
    from imboost.serving.limits import Limits

    if timeout <= 0:
        raise SettingError(f"--timeout must be above 0, got {timeout:g}.")
    limits = Limits(n_rows=max_rows, n_bytes=max_bytes, seconds=timeout, n_jobs=jobs)
    serve_model(model, host=host, port=port, token=token, limits=limits)
