"""The page about the scores of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.table_detector import TableDetector
from imboost.errors import SettingError
from imboost.explain import Explanation
from imboost.facts import Fact
from imboost.present.pages import render
from imboost.present.pictures import score_chart
from imboost.scoring.explained_rows import describe_method
from imboost.scoring.report_rows import ReportRows
from imboost.scoring.row_groups import RowGroup, group_rows
from imboost.scoring.row_selection import SelectedRows, identifier_columns

N_TOP = 100  # rows with the highest scores that are shown
N_SAMPLED = 60  # random rows whose mean contributions are shown for comparison


def render_report(
    detector: TableDetector,
    name: str,
    scores: NDArray[np.floating[Any]],
    n_outliers: int,
    top: SelectedRows,
    sample: SelectedRows,
    findings: Sequence[Fact] = (),
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
        Number of predicted outliers.
    top, sample : SelectedRows
        The rows with the highest scores, and random ones.
    findings : sequence of Fact
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
        "is_estimated": detector.decision_.is_estimated,
        "n_training": len(detector.decision_scores_),
        "detector": detector.model_name,
        "n_columns": len(detector.encoder_.layout.sources),
        "scores_svg": score_chart(scores, detector.threshold_),
        **_explained(detector, top, sample),
    }
    return render("scores.html.j2", context)


def _explained(detector: TableDetector, top: SelectedRows, sample: SelectedRows) -> dict[str, Any]:
    """Return the groups of the highest scores and the mean contributions of columns.

    A detector that cannot explain its scores has one group, and the page says why.
    """
    identifier = next(iter(identifier_columns(detector)), None)
    try:
        explanations, others = detector.explain(top.table), detector.explain(sample.table)
    except SettingError as error:
        shown = ReportRows.of(detector, top, identifier, None)
        groups = [RowGroup("highest scores", shown.rows)]
        return {
            "shown": shown,
            "groups": groups,
            "contributions": [],
            "why_unexplained": str(error),
        }
    shown = ReportRows.of(detector, top, identifier, explanations)
    in_top, in_sample = _mean_contributions(explanations), _mean_contributions(others)
    roles = {column.name: str(column.role) for column in detector.schema_}
    contributions = [
        {"column": column, "role": roles.get(column, ""), "top": mean, "sample": in_sample[column]}
        for column, mean in sorted(in_top.items(), key=lambda item: -item[1])
    ]
    largest = [reason.contribution for row in shown.rows for reason in row.reasons]
    return {
        "shown": shown,
        "groups": group_rows(shown.rows),
        "contributions": contributions,
        "n_sampled": len(others),
        "scale": max([*largest, *in_top.values(), np.finfo(np.float64).tiny]),
        "method": describe_method(explanations[0]),
    }


def _mean_contributions(explanations: Sequence[Explanation]) -> dict[str, float]:
    total: dict[str, float] = {}
    for explanation in explanations:
        for reason in explanation.reasons:
            total[reason.column] = total.get(reason.column, 0.0) + reason.contribution
    return {column: value / len(explanations) for column, value in total.items()}
