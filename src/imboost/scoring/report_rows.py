"""Whole rows as the report shows them: cells, reasons, score, probability and decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from imboost.detectors.table_detector import TableDetector
from imboost.explain import Explanation
from imboost.facts import Fact
from imboost.present.formatting import cut, shorten
from imboost.scoring.pipeline import predict_table
from imboost.scoring.row_selection import SelectedRows
from imboost.tables.cells import as_text, is_supported, mask_missing, to_text
from imboost.tables.row_names import UNNAMED

MAX_LENGTH = 120  # characters of a cell
LONG = 30  # characters: longer cells are broken into lines
UNREADABLE = "(not shown)"  # a cell that holds a list or another structure


@dataclass(frozen=True)
class ReportCell:
    """A cell: its text, None if it is missing, and the number to sort it by, if it is one."""

    text: str | None
    number: float | None = None
    is_reason: bool = False

    @property
    def is_long(self) -> bool:
        """Whether the text needs several lines."""
        return self.text is not None and len(self.text) > LONG


@dataclass(frozen=True)
class ReportRow:
    """A row of the report; `explanation` is None if the detector cannot explain its scores."""

    name: str  # identifier, or the number of the row
    number: int  # row number in the table, from 0
    score: float
    probability: float
    is_outlier: bool
    cells: list[ReportCell]
    explanation: Explanation | None

    @property
    def reasons(self) -> list[Fact]:
        """The reasons that make the row unusual, the strongest first."""
        return self.explanation.main_reasons if self.explanation else []

    @property
    def repeats(self) -> bool:
        """Whether it is a reason that the row repeats another one."""
        return any(reason.is_about_row for reason in self.reasons)


@dataclass(frozen=True)
class ReportRows:
    """Rows with the same columns; `identifier` heads their names."""

    identifier: str
    columns: list[str]
    rows: list[ReportRow]

    @cached_property
    def is_number(self) -> list[bool]:
        """Whether each column holds numbers or datetimes."""
        columns = zip(*(row.cells for row in self.rows), strict=True)
        return [any(cell.number is not None for cell in column) for column in columns]

    @classmethod
    def of(
        cls,
        detector: TableDetector,
        selected: SelectedRows,
        identifier: str | None,
        explanations: Sequence[Explanation] | None,
    ) -> ReportRows:
        """Return selected rows with their predictions; the identifier is not among the columns."""
        table = selected.table
        identifier = identifier if identifier in table.column_names else None
        columns = [name for name in table.column_names if name != identifier]
        found = predict_table(detector, table)
        explained: Sequence[Explanation | None] = explanations or [None] * table.num_rows
        reasons = [
            {reason.column for reason in one.main_reasons} if one else set() for one in explained
        ]
        cells = [_cells(detector, selected, name, reasons) for name in columns]
        rows = [
            ReportRow(
                name=name,
                number=number,
                score=float(found.scores[at]),
                probability=float(found.probabilities[at]),
                is_outlier=bool(found.is_outlier[at]),
                cells=[column[at] for column in cells],
                explanation=explained[at],
            )
            for at, (name, number) in enumerate(
                zip(_names(selected, identifier), selected.numbers, strict=True)
            )
        ]
        title = "row" if identifier is None else identifier or UNNAMED
        return cls(title, columns, rows)


def _names(selected: SelectedRows, identifier: str | None) -> list[str]:
    """Return identifiers, or row numbers where there is none."""
    numbers = [str(number) for number in selected.numbers]
    if identifier is None:
        return numbers
    texts = to_text(selected.table.column(identifier)).to_pylist()
    return [cut(text or number, MAX_LENGTH) for text, number in zip(texts, numbers, strict=True)]


def _cells(
    detector: TableDetector, selected: SelectedRows, name: str, reasons: Sequence[set[str]]
) -> list[ReportCell]:
    """Return the cells of a column."""
    column = selected.table.column(name)
    if not is_supported(column.type):
        return [ReportCell(UNREADABLE)] * len(column)
    cells = mask_missing(column, detector.schema_.missing_values)
    texts = as_text(cells).to_pylist()
    numbers: Sequence[float | None] = [None] * len(texts)
    parser = detector.schema_.parsers.get(name)
    if parser is not None:
        parsed = parser.parse(cells)
        if isinstance(parsed, np.ndarray):
            numbers = [float(value) if np.isfinite(value) else None for value in parsed]
    return [
        ReportCell(_write(text, number), number, name in row)
        for text, number, row in zip(texts, numbers, reasons, strict=True)
    ]


def _write(text: str | None, number: float | None) -> str | None:
    if text is None:
        return None
    return cut(text, MAX_LENGTH) if number is None else shorten(text)
