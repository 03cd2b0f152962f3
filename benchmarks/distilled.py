"""Speed of a distilled model, as ratios within one run: ``python -m benchmarks.distilled``.

The model is fitted to 20,000 orders and distilled. It then scores 200,000 orders, from the Arrow
table to the score, beside scikit-learn's isolation forest on the encoded matrix and ONNX Runtime
on the same cells.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import onnxruntime
from sklearn.ensemble import IsolationForest

from benchmarks.speed import fastest, show
from imboost import TableDetector
from imboost.datasets.orders import mixed_table
from imboost.onnx import export_onnx, onnx_inputs

N_TRAINING, N_SCORED = 20_000, 200_000


def main() -> None:
    """Print all figures."""
    training, table = mixed_table(N_TRAINING).table, mixed_table(N_SCORED).table
    student = TableDetector(random_state=0).fit(training).distill(training)
    print(f"agreement: {student.detector_.agreement_}")
    matrix = student.encode(table)
    forest = IsolationForest(n_estimators=200, random_state=0).fit(matrix[:N_TRAINING])
    with TemporaryDirectory() as folder:
        path = Path(folder, "orders.onnx")
        export_onnx(student, path)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs = onnx_inputs(student, table)
    ours, graph, trees = fastest(
        partial(student.decision_function, table),
        partial(session.run, ["score"], inputs),
        partial(forest.score_samples, matrix),
    )
    print(f"distilled: {N_SCORED / ours:,.0f} rows per second (at least 200,000)")
    show("distilled / isolation forest, in time", ours, trees, 1.0)
    show("ONNX Runtime / distilled, in time", graph, ours, 1.0)


if __name__ == "__main__":
    main()
