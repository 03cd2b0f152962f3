"""How well the errors of a planted table are found, without answers and after some."""

from __future__ import annotations

from typing import cast

import numpy as np
from pandas import DataFrame

from imboost.arrays import Floats, Indices, Mask
from imboost.detectors.table_detector import TableDetector
from imboost.session import Session
from imboost.stats.scaling import MAD_TO_STD
from imboost.tables.schema import Schema
from imboost_bench.cells.planting import PlantedTable

ANSWERS = (0, 25, 50, 100)
ROUND_QUESTIONS = 5


def evaluate_cells(
    name: str, planted: PlantedTable, *, answers: tuple[int, ...] = ANSWERS
) -> DataFrame:
    """Fit, answer questions truthfully, and measure after each number of answers.

    `hits` and `hits_twice` are the errors of each kind among the K and 2K highest scores, K being
    the number of errors, and `share` and `share_twice` the fractions of all errors; `baseline` is
    that among the K largest robust z-scores. `precision` is that of the `n_predicted` rows above
    the threshold. `column_ranks` are, for each kind, the positions of the first wrong column
    among the reasons, from 1 on.
    """
    session = Session(TableDetector(random_state=0), planted.table, random_state=0).start()
    is_error = planted.is_error
    largest = top_rows(largest_robust_z(planted), is_error, 1)
    results = []
    for n_answers in answers:
        while (n_left := n_answers - len(session.answers)) > 0:
            rows = session.ask(min(ROUND_QUESTIONS, n_left))
            session.tell(rows, [int(is_error[row]) for row in rows])
            session.refine()
        detector = cast("TableDetector", session.detector)
        predicted = detector.labels_ == 1
        once, twice = (top_rows(detector.decision_scores_, is_error, n) for n in (1, 2))
        result = {
            "table": name,
            "n_rows": planted.table.num_rows,
            "n_errors": int(is_error.sum()),
            "baseline": float(is_error[largest].mean()),
            "n_answers": n_answers,
            "hits": _count(planted, once),
            "hits_twice": _count(planted, twice),
            "n_of_kind": _count(planted, np.flatnonzero(is_error)),
            "share": float(is_error[once].mean()),
            "share_twice": float(is_error[twice].sum() / is_error.sum()),
            "n_predicted": int(predicted.sum()),
            "precision": float(is_error[predicted].mean()) if predicted.any() else float("nan"),
            "column_ranks": _column_ranks(detector, planted) if n_answers == 0 else {},
        }
        results.append(result)
    return DataFrame(results)


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
