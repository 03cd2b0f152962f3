"""Speed of `stack` and of its distilled model: ``python -m imboost_bench.speed.stack_speed``.

The first table is `imboost.datasets.orders`, 200,000 rows of 14 columns, from the Arrow table to
the score. Speeds are compared with scikit-learn's isolation forest on the encoded matrix, in the
same run. The others are synthetic numbers, scored with and without the pretrained network. Nothing
is asserted; the targets that are printed are those for two cores.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import onnxruntime
import pyarrow.parquet as pq
from sklearn.ensemble import IsolationForest

from imboost import Session, Stack, TableDetector
from imboost.datasets import planted_outliers
from imboost.datasets.orders import mixed_table
from imboost.detectors.stack.detector import BASE_LEARNERS
from imboost.detectors.stack.ensemble import NETWORK
from imboost.onnx import export_onnx, onnx_inputs
from imboost_bench.speed.timing import PROGRAM, fastest, peak_memory, show, timed

N_ROWS = 200_000
N_QUESTIONS = 20
N_ROUNDS = 3
N_EXPLAINED = 20
SHAPES = {
    (1_000, 20): "",
    (10_000, 30): " (at most 4 and 2 s)",
    (400_000, 10): " (at most 15 and 2 s)",
}
MAX_QUESTIONS = 100
N_SCORED = 20_000  # new rows of the same distribution
LEARNERS = {
    "with": BASE_LEARNERS,
    "without": tuple(name for name in BASE_LEARNERS if name != NETWORK),
}


def main() -> None:
    """Print all figures."""
    show_memory()  # first, because a child starts with the peak memory of its parent
    show_orders()
    show_network()


def show_memory() -> None:
    """Print the peak memory of fitting from the shell."""
    with TemporaryDirectory() as folder:
        path, model = Path(folder, "orders.parquet"), Path(folder, "orders.model")
        pq.write_table(mixed_table(N_ROWS).table, path)
        found: list[float] = []
        fit = partial(peak_memory, *PROGRAM, "fit", path, "--out", model)
        seconds = timed(lambda: found.append(fit()))
    print(f"imboost fit: {seconds:.1f} s (at most 40), {found[0]:.2f} GB (at most 1.5)")


def show_orders() -> None:
    """Print the speed of sessions and of scoring for the table of orders."""
    made = mixed_table(N_ROWS)
    print(f"{N_ROWS:,} orders (at most 45 and 2 s)")
    detector = time_session(TableDetector(random_state=0), made.table, made.y, N_QUESTIONS)
    top = np.argsort(-detector.decision_scores_)[:N_EXPLAINED]
    seconds = timed(lambda: detector.explain(made.table.take(top)))
    print(f"explaining the {N_EXPLAINED} highest: {seconds:.2f} s (at most 10)", flush=True)
    table = mixed_table(N_ROWS, seed=1).table  # new rows
    matrix = detector.encode(table)
    forest = IsolationForest(n_estimators=200, random_state=0).fit(matrix)
    unlabelled = TableDetector(random_state=0).fit(made.table)
    student = unlabelled.distill(made.table)
    print(f"agreement of the distilled model: {student.detector_.agreement_}")
    with TemporaryDirectory() as folder:
        path = Path(folder, "orders.onnx")
        export_onnx(student, path)
        graph = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    variants = {
        "stack without labels": partial(unlabelled.decision_function, table),
        "stack with labels": partial(detector.decision_function, table),
        "distilled": partial(student.decision_function, table),
        "ONNX Runtime": partial(graph.run, ["score"], onnx_inputs(student, table)),
        "isolation forest": partial(forest.score_samples, matrix),
    }
    spent = dict(zip(variants, fastest(*variants.values()), strict=True))
    for name, seconds in spent.items():
        print(f"{name}: {N_ROWS / seconds:,.0f} rows per second")
    exact, _, distilled, onnx, trees = spent.values()
    show("stack / isolation forest, in time", exact, trees, 3.0)
    show("distilled / isolation forest, in time", distilled, trees, 1.0)
    show("ONNX Runtime / distilled, in time", onnx, distilled, 1.0)


def show_network() -> None:
    """Print what the pretrained network costs in time."""
    for (n_rows, n_columns), target in SHAPES.items():
        data = planted_outliers(n_rows + N_SCORED, n_columns)
        n_questions = min(MAX_QUESTIONS, n_rows // 100)
        models = []
        for name, learners in LEARNERS.items():
            print(f"{n_rows:,} rows, {n_columns} columns, {name} the network{target}")
            stack = Stack(base_learners=learners, random_state=0)
            models.append(time_session(stack, data.X[:n_rows], data.y, n_questions))
        seconds = fastest(*(partial(own.decision_function, data.X[n_rows:]) for own in models))
        for name, own in zip(LEARNERS, seconds, strict=True):
            print(f"    {name} the network: {N_SCORED / own:,.0f} rows per second", flush=True)


def time_session(detector: Any, rows: Any, y: Any, n_questions: int) -> Any:
    """Ask and answer; print the seconds and return the detector after the last round."""
    session = Session(detector, rows, random_state=0)
    first = timed(lambda: session.ask(n_questions))
    between = []
    for _ in range(N_ROUNDS):
        asked = session.ask(n_questions)
        session.tell(asked, [int(y[row]) for row in asked])
        between.append(timed(lambda: (session.refine(), session.ask(n_questions))))
    rounds = ", ".join(f"{seconds:.1f}" for seconds in between)
    print(f"    first question {first:.1f} s, between rounds {rounds} s", flush=True)
    return cast("Any", session.detector)


if __name__ == "__main__":
    main()
