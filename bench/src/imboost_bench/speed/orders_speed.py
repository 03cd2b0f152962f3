"""Speed of `stack` and of its distilled model: ``python -m imboost_bench.speed.orders_speed``.

The table is `imboost.datasets.orders`, 200,000 rows of 14 columns, from the Arrow table to the
score. Speeds are compared with scikit-learn's isolation forest on the encoded matrix, in the same
run; nothing is asserted.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnxruntime
import pyarrow.parquet as pq
from sklearn.ensemble import IsolationForest

from imboost import Session, TableDetector
from imboost.datasets.orders import mixed_table
from imboost.onnx import export_onnx, onnx_inputs
from imboost_bench.speed.large_table import peak_memory
from imboost_bench.speed.training_speed import fastest, show, timed

N_ROWS = 200_000
N_QUESTIONS = 20
N_ROUNDS = 3
N_EXPLAINED = 20


def main() -> None:
    """Print all figures."""
    show_memory()  # first, because a child starts with the peak memory of its parent
    detector = time_session()
    table = mixed_table(N_ROWS, seed=1).table  # new rows
    matrix = detector.encode(table)
    forest = IsolationForest(n_estimators=200, random_state=0).fit(matrix)
    unlabelled = TableDetector(random_state=0).fit(mixed_table(N_ROWS).table)
    student = unlabelled.distill(mixed_table(N_ROWS).table)
    print(f"agreement of the distilled model: {student.detector_.agreement_}")
    with TemporaryDirectory() as folder:
        path = Path(folder, "orders.onnx")
        export_onnx(student, path)
        graph = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs = onnx_inputs(student, table)
    exact, labelled, distilled, onnx, trees = fastest(
        partial(unlabelled.decision_function, table),
        partial(detector.decision_function, table),
        partial(student.decision_function, table),
        partial(graph.run, ["score"], inputs),
        partial(forest.score_samples, matrix),
    )
    for name, seconds in {
        "stack without labels": exact,
        "stack with labels": labelled,
        "distilled": distilled,
        "ONNX Runtime": onnx,
        "isolation forest": trees,
    }.items():
        print(f"{name}: {N_ROWS / seconds:,.0f} rows per second")
    show("stack / isolation forest, in time", exact, trees, 3.0)
    show("distilled / isolation forest, in time", distilled, trees, 1.0)
    show("ONNX Runtime / distilled, in time", onnx, distilled, 1.0)


def time_session() -> TableDetector:
    """Ask, answer and explain; return the detector after the last round."""
    made = mixed_table(N_ROWS)
    session = Session(TableDetector(random_state=0), made.table, random_state=0)
    first = timed(lambda: session.ask(N_QUESTIONS))
    print(f"first question: {first:.1f} s (at most 45)")
    for _ in range(N_ROUNDS):
        rows = session.ask(N_QUESTIONS)
        session.tell(rows, [int(made.y[row]) for row in rows])
        seconds = timed(lambda: (session.refine(), session.ask(N_QUESTIONS)))
        print(f"between rounds: {seconds:.2f} s (at most 2)")
    detector = session.detector
    assert isinstance(detector, TableDetector)
    top = np.argsort(-detector.decision_scores_)[:N_EXPLAINED]
    seconds = timed(lambda: detector.explain(made.table.take(top)))
    print(f"explaining the {N_EXPLAINED} highest: {seconds:.2f} s (at most 10)", flush=True)
    return detector


def show_memory() -> None:
    """Print the peak memory of fitting from the shell."""
    with TemporaryDirectory() as folder:
        path, model = Path(folder, "orders.parquet"), Path(folder, "orders.model")
        pq.write_table(mixed_table(N_ROWS).table, path)
        fit = [sys.executable, "-m", "imboost", "fit", str(path), "--out", str(model)]
        found: list[float] = []
        seconds = timed(lambda: found.append(peak_memory(fit)))
    print(f"imboost fit: {seconds:.1f} s (at most 40), {found[0]:.2f} GB (at most 1.5)")


if __name__ == "__main__":
    main()
