"""`imboost report`: a page about the scores of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imboost.cli.console import say
from imboost.cli.explained_rows import ExplainedRow, explain_rows, page_context
from imboost.cli.inputs import identifier_columns, open_inputs, scored_batches
from imboost.cli.options import Model, Table
from imboost.cli.outputs import default_output, write_page
from imboost.errors import SettingError
from imboost.reporting.formatting import count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from imboost.detectors.table_detector import TableDetector
    from imboost.scoring.drift import DataWarning
    from imboost.scoring.row_selection import SelectedRows
    from imboost.tables.files import TableFiles

N_TOP = 20  # rows with the highest scores that are explained
N_SAMPLED = 60  # random rows whose mean contributions are shown for comparison
N_REASONS = 4  # columns shown for a row
SAMPLING_SEED = 0


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """What the report needs to know about a table of any size.

    Parameters
    ----------
    scores : array of shape (n_rows,)
        In single precision, to save memory.
    n_outliers : int
    top, sample : SelectedRows
        The rows with the highest scores, and random ones.
    findings : list of DataWarning
        Differences from the training table.
    """

    scores: NDArray[np.float32]
    n_outliers: int
    top: SelectedRows
    sample: SelectedRows
    findings: list[DataWarning]


def report(
    model: Model,
    data: Table,
    out: Annotated[
        Path | None,
        typer.Option(help="HTML file to write. Default: beside the table, as NAME.report.html."),
    ] = None,
) -> None:
    """Write a page about a table: scores, threshold, explanations and data warnings."""
    from imboost.reporting import score_histogram

    out = out or default_output(data, ".report.html")
    if out.is_dir():
        raise SettingError(f"{out} is a folder: name a file with --out.")
    detector, files = open_inputs(model, data)
    scored = _score_table(detector, files)
    context = {
        "data": data.name,
        "n_rows": len(scored.scores),
        "n_outliers": scored.n_outliers,
        "findings": scored.findings,
        "threshold": detector.threshold_,
        "is_estimated": detector.threshold_is_estimated_,
        "n_training": len(detector.decision_scores_),
        "detector": type(detector.detector_).__name__,
        "n_columns": len(detector.encoder_.layout.sources),
        "scores_svg": score_histogram(scored.scores, detector.threshold_),
        **_explanations(detector, scored),
    }
    write_page(out, "scores.html.j2", context)
    n_rows = len(scored.scores)
    say(f"Report: {out}", f"Read {count(scored.top.n_read, 'row')}, scored {n_rows:,}.")


def _score_table(detector: TableDetector, files: TableFiles) -> ScoredTable:
    import numpy as np

    from imboost.scoring.drift import DriftMonitor
    from imboost.scoring.row_selection import TopRows

    top, sample, monitor = TopRows(N_TOP), TopRows(N_SAMPLED), DriftMonitor(detector)
    rng = np.random.default_rng(SAMPLING_SEED)
    scores: list[NDArray[np.float32]] = []
    n_outliers = 0
    for batch in scored_batches(detector, files):
        found = batch.predictions
        scores.append(found.scores.astype(np.float32))
        n_outliers += int(found.is_outlier.sum())
        top.add(batch.first_row, batch.table, found.scores)
        sample.add(batch.first_row, batch.table, rng.random(batch.table.num_rows))
        monitor.add(batch.table)
    return ScoredTable(
        np.concatenate(scores), n_outliers, top.selected(), sample.selected(), monitor.findings()
    )


def _explanations(detector: TableDetector, scored: ScoredTable) -> dict[str, Any]:
    """Return explained rows and mean contributions, or the reason why there are none."""
    identifier = next(iter(identifier_columns(detector)), None)
    try:
        top = explain_rows(detector, scored.top, identifier)
        sample = explain_rows(detector, scored.sample, identifier)
    except SettingError as error:
        names = scored.top.names(identifier)
        scores = [float(scored.scores[number]) for number in scored.top.numbers]
        pairs = list(zip(names, scores, strict=True))
        return {"rows": [], "unexplained_rows": pairs, "why_unexplained": str(error)}
    in_top, in_sample = _mean_contributions(top), _mean_contributions(sample)
    roles = {column.name: str(column.role) for column in detector.schema_}
    contributions = [
        {"column": column, "role": roles[column], "top": mean, "sample": in_sample[column]}
        for column, mean in sorted(in_top.items(), key=lambda item: -item[1])
    ]
    return {
        "contributions": contributions,
        "n_sampled": len(sample),
        **page_context(top, N_REASONS),
    }


def _mean_contributions(rows: Sequence[ExplainedRow]) -> dict[str, float]:
    total: dict[str, float] = {}
    for row in rows:
        for reason in row.explanation.reasons:
            total[reason.column] = total.get(reason.column, 0.0) + reason.contribution
    return {column: value / len(rows) for column, value in total.items()}
