"""How well the errors of a planted table are found, without answers and after some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from imboost.arrays import Floats, Indices, Mask
from imboost.detectors.table_detector import TableDetector
from imboost.session import Session
from imboost.stats.scaling import MAD_TO_STD
from imboost.tables.schema import Schema
from imboost_bench.cells.planting import PlantedTable

ANSWERS = (0, 25, 50, 100)
ROUND_QUESTIONS = 5


@dataclass(frozen=True)
class CellsResult:
    """Figures of one planted table after some answers.

    `hits` and `hits_twice` are the errors of each kind among the K and 2K highest scores, K being
    the number of errors; `baseline` is the fraction of errors among the K largest robust z-scores.
    `precision` is that of the rows above the threshold. `column_ranks` are, for each kind, the
    positions of the first wrong column among the reasons, from 1 on.
    """

    table: str
    n_rows: int
    n_errors: int
    baseline: float
    n_answers: int
    hits: dict[str, int]
    hits_twice: dict[str, int]
    n_of_kind: dict[str, int]
    n_predicted: int
    precision: float
    column_ranks: dict[str, list[int]]

    @property
    def share(self) -> float:
        """Fraction of the errors among the K highest scores."""
        return sum(self.hits.values()) / self.n_errors

    @property
    def share_twice(self) -> float:
        """Fraction of the errors among the 2K highest scores."""
        return sum(self.hits_twice.values()) / self.n_errors


def evaluate_cells(
    name: str, planted: PlantedTable, *, answers: tuple[int, ...] = ANSWERS
) -> list[CellsResult]:
    """Fit, answer questions truthfully, and measure after each number of answers."""
    session = Session(TableDetector(random_state=0), planted.table, random_state=0).start()
    largest = top_rows(largest_robust_z(planted), planted.is_error, 1)
    baseline = float(planted.is_error[largest].mean())
    results = []
    for n_answers in answers:
        while (n_left := n_answers - len(session.answers)) > 0:
            rows = session.ask(min(ROUND_QUESTIONS, n_left))
            session.tell(rows, [int(planted.is_error[row]) for row in rows])
            session.refine()
        detector = cast("TableDetector", session.detector)
        scores, predicted = detector.decision_scores_, detector.labels_ == 1
        results.append(
            CellsResult(
                name,
                planted.table.num_rows,
                int(planted.is_error.sum()),
                baseline,
                n_answers,
                _count(planted, top_rows(scores, planted.is_error, 1)),
                _count(planted, top_rows(scores, planted.is_error, 2)),
                _count(planted, np.flatnonzero(planted.is_error)),
                int(predicted.sum()),
                float(planted.is_error[predicted].mean()) if predicted.any() else float("nan"),
                _column_ranks(detector, planted) if n_answers == 0 else {},
            )
        )
    return results


def top_rows(scores: Floats, is_error: Mask, factor: int) -> Indices:
    """Return the rows with the highest scores, `factor` times as many as there are errors."""
    return np.argsort(-scores, kind="stable")[: factor * int(is_error.sum())]


def largest_robust_z(planted: PlantedTable) -> Floats:
    """Return the baseline: the largest robust z-score of the numbers of each row."""
    _, parsed = Schema.fit_parse(planted.table)
    largest = np.zeros(planted.table.num_rows)
    for values in parsed.values():
        if isinstance(values, np.ndarray):
            deviation = np.abs(values - np.nanmedian(values))
            spread = MAD_TO_STD * np.nanmedian(deviation) or np.nanmean(deviation) or 1.0
            largest = np.fmax(largest, deviation / spread)
    return largest


def _count(planted: PlantedTable, rows: Indices) -> dict[str, int]:
    kinds, counts = np.unique(planted.kinds[rows], return_counts=True)
    return {str(kind): int(n) for kind, n in zip(kinds, counts, strict=True) if kind}


def _column_ranks(detector: TableDetector, planted: PlantedTable) -> dict[str, list[int]]:
    rows = [row for row in np.flatnonzero(planted.is_error).tolist() if planted.columns[row]]
    found: dict[str, list[int]] = {}
    for row, explanation in zip(rows, detector.explain(planted.table.take(rows)), strict=True):
        names = [reason.column for reason in explanation.reasons]
        positions = [names.index(name) + 1 for name in planted.columns[row] if name in names]
        rank = min(positions, default=len(names) + 1)
        found.setdefault(str(planted.kinds[row]), []).append(rank)
    return found
