"""What the pretrained network costs `stack` in time.

``python -m imboost_bench.speed.network_speed``

The tables are synthetic numbers. Each round answers 1 % of the rows, at most 100. Nothing is
asserted; the targets that are printed are those for two cores.
"""

from __future__ import annotations

from functools import partial

from imboost import Session, Stack
from imboost.datasets import planted_outliers
from imboost.datasets.dataset import Dataset
from imboost.detectors.stack.detector import BASE_LEARNERS
from imboost.detectors.stack.ensemble import NETWORK
from imboost_bench.speed.training_speed import fastest, timed

SHAPES = ((1_000, 20), (10_000, 30), (400_000, 10))
TARGETS = {(10_000, 30): " (at most 4 and 2 s)", (400_000, 10): " (at most 15 and 2 s)"}
N_ROUNDS = 5
MAX_QUESTIONS = 100
N_SCORED = 20_000  # new rows of the same distribution
LEARNERS = {
    "with": BASE_LEARNERS,
    "without": tuple(name for name in BASE_LEARNERS if name != NETWORK),
}


def main() -> None:
    """Print all figures."""
    for shape in SHAPES:
        print(f"{shape[0]:,} rows, {shape[1]} columns{TARGETS.get(shape, '')}")
        data = planted_outliers(shape[0] + N_SCORED, shape[1])
        found = {name: time_session(data, shape[0], name) for name in LEARNERS}
        X = data.X[shape[0] :]
        seconds = fastest(*(partial(model.decision_function, X) for model in found.values()))
        for name, own in zip(found, seconds, strict=True):
            print(f"    {name} network: {len(X) / own:,.0f} rows per second", flush=True)


def time_session(data: Dataset, n_rows: int, name: str) -> Stack:
    """Ask and answer about the first rows; return the detector after the last round."""
    n_questions = min(MAX_QUESTIONS, n_rows // 100)
    session = Session(
        Stack(base_learners=LEARNERS[name], random_state=0), data.X[:n_rows], random_state=0
    )
    first = timed(lambda: session.ask(n_questions))
    rounds = []
    for _ in range(N_ROUNDS):
        rows = session.ask(n_questions)
        session.tell(rows, [int(data.y[row]) for row in rows])
        rounds.append(timed(lambda: (session.refine(), session.ask(n_questions))))
    between = ", ".join(f"{seconds:.1f}" for seconds in rounds)
    print(f"    {name} network: first question {first:.1f} s, between rounds {between} s")
    detector = session.detector
    assert isinstance(detector, Stack)
    return detector


if __name__ == "__main__":
    main()
