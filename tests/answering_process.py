"""A process that answers questions of a stored session and prints each answer it got stored.

It is killed by the tests, so it prints a line only after `tell` has returned. An answer depends on
its row alone: the same history results, however often the process is killed.
"""

import sys

from imboost import Session, Trees
from imboost.datasets import planted_outliers

DATA = planted_outliers(1200, 4, seed=5)
PER_ROUND = 8


def make_detector():
    return Trees(n_trees=5, n_isolation_trees=5, random_state=3)


def open_session(address):
    return Session.open(address, DATA.X, make_detector(), query="rd", random_state=1)


def report(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def answer(session, n_rounds, report=lambda row: None):
    """Ask, tell one answer at a time and refine; go on where the session is."""
    while session.round < n_rounds:
        while len(session.history) < PER_ROUND * (session.round + 1):
            row = session.ask(PER_ROUND)[0]
            session.tell([row], [int(DATA.y[row])], who="Ada", request=f"row-{row}")
            report(row)
        session.refine()


if __name__ == "__main__":
    with open_session(sys.argv[1]) as opened:
        report("open")
        answer(opened, int(sys.argv[2]), report)
