"""Key presses to find the planted outliers of a synthetic table, with and without group answers.

``python -m imboost_bench.speed.group_answers --rows 4000``

A simulated analyst answers the questions of a session and knows the truth. With group answers, one
key answers the question and all rows like it; each row of the group that differs is taken out
first, which is one key press more. The analyst uses a group where that saves key presses.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import typer

from imboost import Session, TableDetector
from imboost.datasets.orders import MixedTable, mixed_table
from imboost.labelling.columns import Columns, find_group, find_suspects

N_QUESTIONS = 10  # per round, as on the page
MAX_PRESSES = 5000


def main(rows: int = 4000, found: float = 0.9, seed: int = 0) -> None:
    """Print the key presses until a fraction `found` of the outliers is answered."""
    made = mixed_table(rows, seed=seed)
    print(f"{rows:,} rows, {made.y.sum()} of them outliers")
    presses = []
    for name, use_groups in (("one by one", False), ("with groups", True)):
        n_presses, n_found = simulate(made, found, seed, use_groups=use_groups)
        print(f"    {n_presses:5d} key presses, {n_found} outliers found  {name}")
        presses.append(n_presses)
    print(f"    ratio {presses[1] / presses[0]:.2f}")


def simulate(made: MixedTable, fraction: float, seed: int, *, use_groups: bool) -> tuple[int, int]:
    """Return the key presses until a fraction of the outliers is answered, and their number."""
    session = Session(TableDetector(random_state=seed), made.table, random_state=seed)
    n_presses, columns = 0, None
    n_wanted = int(np.ceil(fraction * made.y.sum()))
    while True:
        session.top_up(N_QUESTIONS)
        detector = cast("TableDetector", session.detector)
        columns = columns or _columns(detector, made)
        questions = session.open_questions
        explanations = detector.explain(made.table.take(questions)) if use_groups else []
        for number, row in enumerate(questions):
            if row in session.answers:  # answered as part of a group
                continue
            label, rows = made.y[row], [row]
            if use_groups:
                reasons = [
                    own for own in explanations[number].main_reasons if not own.is_about_row
                ]
                shown = [own.column for own in reasons]
                rules = [own.column for own in reasons if own.rule is not None]
                scores = detector.decision_scores_
                suspects = find_suspects(scores, detector.threshold_)
                group = find_group(columns, row, shown, scores, suspects, rules)[1]
                group = [other for other in group if other not in session.answers]
                alike = [other for other in group if made.y[other] == label]
                if len(alike) > len(group) - len(alike):
                    rows += alike
                    n_presses += len(group) - len(alike)
            n_presses += 1
            session.tell(rows, [int(label)] * len(rows))
            n_found = int(made.y[session.labels == 1].sum())
            if n_found >= n_wanted or n_presses >= MAX_PRESSES:
                return n_presses, n_found
        session.refine()


def _columns(detector: TableDetector, made: MixedTable) -> Columns:
    parsed = detector.schema_.parse(made.table)
    broken = detector.rules_.broken(parsed) if detector.rules_ else {}
    return Columns(made.table, parsed, [], broken)


if __name__ == "__main__":
    typer.run(main)
