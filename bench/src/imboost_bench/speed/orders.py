"""Detection and explanation of planted outliers in a synthetic table.

``python -m imboost_bench.speed.orders --rows 10000 --answers 100 --detector stack``
"""

from __future__ import annotations

from typing import cast

import numpy as np
import typer
from sklearn.metrics import roc_auc_score

from imboost import Oracle, Session, TableDetector
from imboost.datasets.orders import KINDS, MixedTable, mixed_table
from imboost.session import run_rounds

N_ROUNDS = 5
N_REASONS = 2  # first reasons among which a wrong cell should be


def main(
    rows: int = 10_000,
    answers: int = 100,
    detector: str = "stack",
    explained: int = 300,
    seed: int = 0,
) -> None:
    """Print AUC and how often the wrong cell is named, for each kind of outlier."""
    made = mixed_table(rows, seed=seed)
    session = Session(TableDetector(detector, random_state=seed), made.table, random_state=seed)
    print(f"{detector}, {rows:,} rows, {made.y.sum():,} of them outliers")
    per_round = answers // N_ROUNDS
    for number in run_rounds(session, Oracle(made.y), N_ROUNDS, per_round):
        if number in (0, N_ROUNDS):
            print(f"after {number * per_round} answers")
            show_quality(session, made, explained)
    predicted = session.detector.labels_ == 1
    precision = session.outcome().precision
    print(
        f"{predicted.sum():,} rows are predicted outliers; {precision.value:.0%} of them are "
        f"outliers by estimate ({precision.low:.0%} to {precision.high:.0%}), "
        f"{made.y[predicted].mean():.0%} in truth\n{session.advice()}"
    )


def show_quality(session: Session, made: MixedTable, most: int) -> None:
    """Print, by kind of outlier, the AUC and how often a wrong cell is a first reason."""
    scores = session.detector.decision_scores_
    for kind in KINDS:
        rows = (made.kinds == kind) | (made.y == 0)
        print(f"    AUC {roc_auc_score(made.y[rows], scores[rows]):.3f}  {kind}")
    outliers = np.flatnonzero(made.y)
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(outliers, min(most, len(outliers)), replace=False))
    explanations = cast("TableDetector", session.detector).explain(made.table.take(rows))
    named = np.array(
        [
            any(reason.column in made.cells[row] for reason in own.reasons[:N_REASONS])
            for row, own in zip(rows, explanations, strict=True)
        ]
    )
    print(f"    {named.mean():.1%} have a wrong cell among their first {N_REASONS} reasons")
    for kind in KINDS:
        print(f"        {named[made.kinds[rows] == kind].mean():.1%}  {kind}")


if __name__ == "__main__":
    typer.run(main)
