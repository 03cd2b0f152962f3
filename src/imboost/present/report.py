"""The page about the scores of a table, and rows with their explanations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from imboost.arrays import Floats, Indices
from imboost.detectors.table_detector import TableDetector
from imboost.errors import SettingError
from imboost.explain import Explanation
from imboost.facts import Fact
from imboost.present.formatting import cut, shorten
from imboost.present.pages import render
from imboost.present.pictures import score_chart
from imboost.present.rows import UNEXPLAINED, CellView, RowGroup, RowView, group_rows
from imboost.scoring.pipeline import predict_table
from imboost.scoring.row_selection import SelectedRows, TopRows, identifier_columns
from imboost.tables.cells import as_text, is_supported, mask_missing, to_text
from imboost.tables.names import UNNAMED

N_TOP = 100  # rows with the highest scores that are shown
N_SAMPLED = 60  # random rows whose mean contributions are shown for comparison
SAMPLING_SEED = 0
MAX_LENGTH = 120  # characters of a cell
UNREADABLE = "(not shown)"  # a cell that holds a list or another structure


class ReportSample:
    """The rows of a report on a table that is read in batches: the highest scores, random ones."""

    def __init__(self, n_top: int = N_TOP) -> None:
        self.top, self.random = TopRows(n_top), TopRows(N_SAMPLED)
        self._scores: list[np.ndarray[Any, np.dtype[np.float32]]] = []  # single, to save memory
        self._rng = np.random.default_rng(SAMPLING_SEED)

    def add(self, numbers: Indices, table: pa.Table, scores: Floats) -> None:
        """Add rows with these row numbers."""
        self._scores.append(scores.astype(np.float32))
        self.top.add(numbers, table, scores)
        self.random.add(numbers, table, self._rng.random(table.num_rows))

    @property
    def n_explained(self) -> int:
        """Number of rows that the report explains."""
        return len(self.top.keys) + len(self.random.keys)

    @property
    def scores(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The scores of all rows."""
        return np.concatenate(self._scores)


def render_report(
    detector: TableDetector,
    name: str,
    sample: ReportSample,
    n_outliers: int,
    findings: Sequence[Fact] = (),
    table_findings: Sequence[Mapping[str, Any]] | None = None,
) -> str:
    """Return the page about the scores of a table with a name and a number of predicted outliers.

    `findings` are differences from the training table; `table_findings` say what is wrong with
    the table itself, see `imboost.findings.output.page_findings`.
    """
    top, random, scores = sample.top.selected(), sample.random.selected(), sample.scores
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
        **_explained(detector, top, random),
    }
    return render("scores.html.j2", context)


def explain_rows(
    detector: TableDetector, selected: SelectedRows, identifier: str | None
) -> list[RowView]:
    """Explain a few rows, in their order; without their cells."""
    explanations = detector.explain(selected.table)
    return _views(detector, selected, selected.names(identifier), explanations)


def _views(
    detector: TableDetector,
    selected: SelectedRows,
    names: Sequence[str],
    explanations: Sequence[Explanation],
    columns: Sequence[Sequence[CellView]] = (),
) -> list[RowView]:
    """Return rows with their predictions, given the cells of each column."""
    found = predict_table(detector, selected.table)
    return [
        RowView(
            row=row,
            score=float(found.scores[at]),
            probability=float(found.probabilities[at]),
            is_outlier=bool(found.is_outlier[at]),
            name=names[at],
            cells=[column[at] for column in columns],
            explanation=explanations[at],
        )
        for at, row in enumerate(selected.numbers)
    ]


def _explained(detector: TableDetector, top: SelectedRows, sample: SelectedRows) -> dict[str, Any]:
    """Return the groups of the highest scores and the mean contributions of columns.

    A detector that cannot explain its scores has one group, and the page says why.
    """
    try:
        explanations, others = detector.explain(top.table), detector.explain(sample.table)
    except SettingError as error:
        shown = _shown_rows(detector, top, [UNEXPLAINED] * len(top.numbers))
        groups = [RowGroup("highest scores", shown["rows"])]
        unexplained = {"contributions": [], "why_unexplained": str(error)}
        return {"shown": shown, "groups": groups, **unexplained}
    shown = _shown_rows(detector, top, explanations)
    in_top, in_sample = _mean_contributions(explanations), _mean_contributions(others)
    roles = {column.name: str(column.role) for column in detector.schema_}
    contributions = [
        {"column": column, "role": roles.get(column, ""), "top": mean, "sample": in_sample[column]}
        for column, mean in sorted(in_top.items(), key=lambda item: -item[1])
    ]
    largest = [reason.contribution for row in shown["rows"] for reason in row.reasons]
    return {
        "shown": shown,
        "groups": group_rows(shown["rows"]),
        "contributions": contributions,
        "n_sampled": len(others),
        "scale": max([*largest, *in_top.values(), np.finfo(np.float64).tiny]),
        "method": shown["rows"][0].method,
    }


def _mean_contributions(explanations: Sequence[Explanation]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for explanation in explanations:
        for reason in explanation.reasons:
            total[reason.column] += reason.contribution
    return {column: value / len(explanations) for column, value in total.items()}


def _shown_rows(
    detector: TableDetector, selected: SelectedRows, explanations: Sequence[Explanation]
) -> dict[str, Any]:
    """Return rows, and the heading, name and kind of their columns.

    The identifier is not among the columns: it names the rows, as their number does without it.
    """
    table, heading = selected.table, "row"
    columns, names = table.column_names, [str(number) for number in selected.numbers]
    for identifier in identifier_columns(detector)[:1]:
        if identifier in columns:
            heading = identifier or UNNAMED
            columns.remove(identifier)
            texts = to_text(table.column(identifier)).to_pylist()
            names = [cut(text or row, MAX_LENGTH) for text, row in zip(texts, names, strict=True)]
    reasons = [{reason.column: reason for reason in one.main_reasons} for one in explanations]
    cells = [_cells(detector, table, name, reasons) for name in columns]
    return {
        "heading": heading,
        "columns": columns,
        "is_number": [any(cell.number is not None for cell in column) for column in cells],
        "rows": _views(detector, selected, names, explanations, cells),
    }


def _cells(
    detector: TableDetector, table: pa.Table, name: str, reasons: Sequence[Mapping[str, Fact]]
) -> list[CellView]:
    """Return the cells of a column."""
    column = table.column(name)
    if not is_supported(column.type):
        return [CellView(column=name, text=UNREADABLE)] * len(column)
    cells = mask_missing(column, detector.schema_.missing_values)
    texts = as_text(cells).to_pylist()
    parser = detector.schema_.parsers.get(name)
    parsed = parser.parse(cells) if parser is not None else None
    numbers: Sequence[float | None] = [None] * len(texts)
    if isinstance(parsed, np.ndarray):
        numbers = [float(value) if np.isfinite(value) else None for value in parsed]
    return [
        CellView(column=name, text=_write(text, number), number=number, reason=of_row.get(name))
        for text, number, of_row in zip(texts, numbers, reasons, strict=True)
    ]


def _write(text: str | None, number: float | None) -> str | None:
    if text is None:
        return None
    return cut(text, MAX_LENGTH) if number is None else shorten(text)
