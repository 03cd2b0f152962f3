"""The page about the scores of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.table_detector import TableDetector
from imboost.errors import SettingError
from imboost.reporting import render, score_histogram
from imboost.scoring.drift import DataWarning
from imboost.scoring.explained_rows import ExplainedRow, explain_rows, page_context
from imboost.scoring.row_selection import SelectedRows, identifier_columns

N_TOP = 20  # rows with the highest scores that are explained
N_SAMPLED = 60  # random rows whose mean contributions are shown for comparison
N_REASONS = 4  # columns shown for a row


def render_report(
    detector: TableDetector,
    name: str,
    scores: NDArray[np.floating[Any]],
    n_outliers: int,
    top: SelectedRows,
    sample: SelectedRows,
    findings: Sequence[DataWarning] = (),
    table_findings: Sequence[Mapping[str, Any]] | None = None,
) -> str:
    """Return the page about the scores of a table.

    Parameters
    ----------
    detector : TableDetector
        It computed the scores.
    name : str
        Of the table.
    scores : array of shape (n_rows,)
        Single precision is enough.
    n_outliers : int
        Rows that are called outliers.
    top, sample : SelectedRows
        The rows with the highest scores, and random ones.
    findings : sequence of DataWarning
        Differences from the training table.
    table_findings : sequence of dict, optional
        What is wrong with the table, see `imboost.findings.output.page_findings`.
    """
    context = {
        "data": name,
        "n_rows": len(scores),
        "n_outliers": n_outliers,
        "findings": findings,
        "table_findings": table_findings,
        "threshold": detector.threshold_,
        "is_estimated": detector.threshold_is_estimated_,
        "n_training": len(detector.decision_scores_),
        "detector": type(detector.detector_).__name__,
        "n_columns": len(detector.encoder_.layout.sources),
        "scores_svg": score_histogram(scores, detector.threshold_),
        **_explanations(detector, scores, top, sample),
    }
    return render("scores.html.j2", context)


def _explanations(
    detector: TableDetector,
    scores: NDArray[np.floating[Any]],
    top: SelectedRows,
    sample: SelectedRows,
) -> dict[str, Any]:
    """Return explained rows and mean contributions, or the reason why there are none."""
    identifier = next(iter(identifier_columns(detector)), None)
    try:
        rows = explain_rows(detector, top, identifier)
        others = explain_rows(detector, sample, identifier)
    except SettingError as error:
        pairs = [
            (name, float(scores[number]))
            for name, number in zip(top.names(identifier), top.numbers, strict=True)
        ]
        return {"rows": [], "unexplained_rows": pairs, "why_unexplained": str(error)}
    in_top, in_sample = _mean_contributions(rows), _mean_contributions(others)
    roles = {column.name: str(column.role) for column in detector.schema_}
    contributions = [
        {"column": column, "role": roles[column], "top": mean, "sample": in_sample[column]}
        for column, mean in sorted(in_top.items(), key=lambda item: -item[1])
    ]
    return {
        "contributions": contributions,
        "n_sampled": len(others),
        **page_context(rows, N_REASONS),
    }


def _mean_contributions(rows: Sequence[ExplainedRow]) -> dict[str, float]:
    total: dict[str, float] = {}
    for row in rows:
        for reason in row.explanation.reasons:
            total[reason.column] = total.get(reason.column, 0.0) + reason.contribution
    return {column: value / len(rows) for column, value in total.items()}
