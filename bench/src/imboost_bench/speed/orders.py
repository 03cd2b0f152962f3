"""Detection and explanation of planted outliers in a synthetic table.

``python -m imboost_bench.speed.orders --rows 10000 --answers 100 --detector stack``
"""

from __future__ import annotations

import argparse
from typing import cast

import numpy as np
from sklearn.metrics import roc_auc_score

from imboost import Oracle, Session, TableDetector
from imboost.datasets.orders import KINDS, MixedTable, mixed_table
from imboost.session import run_rounds

N_ROUNDS = 5
N_REASONS = 2  # first reasons among which a wrong cell should be


def main() -> None:
    """Print AUC and how often the wrong cell is named, for each kind of outlier."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--answers", type=int, default=100, help="in five rounds")
    parser.add_argument("--detector", default="stack")
    parser.add_argument("--explained", type=int, default=300, help="outliers at most")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    made = mixed_table(options.rows, seed=options.seed)
    detector = TableDetector(options.detector, random_state=options.seed)
    session = Session(detector, made.table, random_state=options.seed)
    print(f"{options.detector}, {options.rows:,} rows, {made.y.sum():,} of them outliers")
    per_round = options.answers // N_ROUNDS
    for number in run_rounds(session, Oracle(made.y), N_ROUNDS, per_round):
        if number in (0, N_ROUNDS):
            print(f"after {number * per_round} answers")
            show_quality(session, made, options.explained)
    called = session.detector.labels_ == 1
    precision = session.outcome().precision
    print(
        f"{called.sum():,} rows are called outliers; {precision.value:.0%} of them are outliers "
        f"by estimate ({precision.low:.0%} to {precision.high:.0%}), {made.y[called].mean():.0%} "
        f"in truth\n{session.advice()}"
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
            bool({reason.column for reason in own.reasons[:N_REASONS]} & set(made.cells[row]))
            for row, own in zip(rows, explanations, strict=True)
        ]
    )
    print(f"    {named.mean():.1%} have a wrong cell among their first {N_REASONS} reasons")
    for kind in KINDS:
        print(f"        {named[made.kinds[rows] == kind].mean():.1%}  {kind}")


if __name__ == "__main__":
    main()
