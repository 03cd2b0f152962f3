"""`imboost report`: a page about the scores of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imboost.cli.console import say
from imboost.cli.explain import explain_rows
from imboost.cli.explained_rows import ExplainedRow, how_known, shorten
from imboost.cli.inputs import identifiers, open_inputs, scored
from imboost.cli.options import Model, Table
from imboost.errors import SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from imboost.detectors.table_detector import TableDetector
    from imboost.scoring.drift import DataWarning
    from imboost.scoring.row_selection import SelectedRows
    from imboost.tables.files import TableFiles

N_TOP = 20
N_SAMPLED = 60
"""Rows that are explained: those with the highest scores, and some drawn from all."""

N_REASONS = 4
"""Columns that are shown for a row."""

SAMPLING_SEED = 0


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass over a table finds.

    Parameters
    ----------
    scores : array of shape (n_rows,)
        In single precision, since there may be many.
    n_outliers : int
    top, sampled : SelectedRows
    findings : list of DataWarning
    """

    scores: NDArray[np.float32]
    n_outliers: int
    top: SelectedRows
    sampled: SelectedRows
    findings: list[DataWarning]


@dataclass(frozen=True)
class Contribution:
    """What a column adds to scores, on average.

    Parameters
    ----------
    column, role : str
    in_top, in_sample : float
        In the rows with the highest scores, and in rows drawn from all.
    """

    column: str
    role: str
    in_top: float
    in_sample: float


def report(
    model: Model,
    data: Table,
    out: Annotated[
        Path | None,
        typer.Option(help="HTML file to write. Default: beside the table, as NAME.report.html."),
    ] = None,
) -> None:
    """Write a page about the scores of a table, the highest of them and the data itself."""
    from imboost.cli.output_path import default_output
    from imboost.persistence.atomic_write import atomic_write
    from imboost.reporting import render, score_histogram

    out = out or default_output(data, ".report.html")
    if out.is_dir():
        raise SettingError(f"{out} is a folder: name a file with --out.")
    detector, files = open_inputs(model, data)
    survey = look_over(detector, files)
    context = {
        "data": data.name,
        "survey": survey,
        "threshold": detector.threshold_,
        "is_guess": detector.threshold_is_estimated_,
        "n_training": len(detector.decision_scores_),
        "detector": type(detector.detector_).__name__,
        "n_columns": len(detector.encoder_.layout.sources),
        "scores_svg": score_histogram(survey.scores, detector.threshold_),
        "n_reasons": N_REASONS,
        "shorten": shorten,
        **_explanations(detector, survey),
    }
    with atomic_write(out) as draft:
        draft.write_text(render("scores.html.j2", context), encoding="utf-8")
    say(f"Report: {out}")


def look_over(detector: TableDetector, files: TableFiles) -> Survey:
    """Go over a table of any size once."""
    import numpy as np

    from imboost.scoring.drift import DriftMonitor
    from imboost.scoring.row_selection import TopRows

    top, sampled, monitor = TopRows(N_TOP), TopRows(N_SAMPLED), DriftMonitor(detector)
    rng = np.random.default_rng(SAMPLING_SEED)
    scores: list[NDArray[np.float32]] = []
    n_outliers = 0
    for batch in scored(detector, files):
        found = batch.predictions
        scores.append(found.scores.astype(np.float32))
        n_outliers += int(found.is_outlier.sum())
        top.add(batch.first_row, batch.table, found.scores)
        sampled.add(batch.first_row, batch.table, rng.random(batch.table.num_rows))
        monitor.add(batch.table)
    return Survey(
        np.concatenate(scores), n_outliers, top.selected(), sampled.selected(), monitor.findings()
    )


def _explanations(detector: TableDetector, survey: Survey) -> dict[str, Any]:
    """Return reasons of rows and means over them, or why there are none."""
    names = identifiers(detector)
    identifier = names[0] if names else None
    try:
        top = explain_rows(detector, survey.top, identifier)
        sampled = explain_rows(detector, survey.sampled, identifier)
    except SettingError as error:
        plain_rows = zip(survey.top.names(identifier), _sorted_scores(survey), strict=True)
        return {"rows": [], "plain_rows": list(plain_rows), "why_none": str(error)}
    return {
        "rows": top,
        "contributions": _contributions(detector, top, sampled),
        "is_exact": top[0].explanation.is_exact,
        "how_known": how_known(top[0]),
    }


def _sorted_scores(survey: Survey) -> list[float]:
    return [float(survey.scores[number]) for number in survey.top.numbers]


def _contributions(
    detector: TableDetector, top: Sequence[ExplainedRow], sampled: Sequence[ExplainedRow]
) -> list[Contribution]:
    """Return what columns add on average, the largest in the top rows first."""
    in_top, in_sample = _mean_shares(top), _mean_shares(sampled)
    found = [
        Contribution(column.name, str(column.role), in_top[column.name], in_sample[column.name])
        for column in detector.schema_
        if column.name in in_top
    ]
    return sorted(found, key=lambda contribution: -contribution.in_top)


def _mean_shares(rows: Sequence[ExplainedRow]) -> dict[str, float]:
    shares: dict[str, list[float]] = {}
    for row in rows:
        for reason in row.explanation.reasons:
            shares.setdefault(reason.column, []).append(reason.contribution)
    return {column: sum(found) / len(rows) for column, found in shares.items()}
