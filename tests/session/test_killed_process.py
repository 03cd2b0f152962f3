"""A process that is killed at any moment loses no answer that it acknowledged.

`python tests/session/test_killed_process.py ADDRESS N` kills it N times.
"""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import answering_process
from answering_process import DATA, PER_ROUND, answer, make_detector, open_session, report
from imboost import Session
from imboost.session.log import Answered
from imboost.session.store import SQLLog

PROGRAM = Path(answering_process.__file__)


def kill_repeatedly(address, n_kills, n_rounds, seed=0):
    """Kill a process that answers, each time after a few answers; return what it printed."""
    rng = random.Random(seed)
    printed = []
    command = [sys.executable, str(PROGRAM), address, str(n_rounds)]
    for number in range(n_kills + 1):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "open\n"
            lines = []
            if number < n_kills:
                lines = [process.stdout.readline() for _ in range(rng.randrange(6))]
                time.sleep(rng.uniform(0, 0.03))  # into an answer or a training
                process.kill()
            lines += process.stdout.readlines()
        assert process.returncode == (-signal.SIGKILL if number < n_kills else 0)
        printed.append([int(line) for line in lines])
    return printed


def check(address, printed, n_rounds):
    """Check that the log has every acknowledged answer once, and leads to the same model."""
    log = SQLLog(address)
    stored = [entry.row for entry in log if isinstance(entry, Answered)]
    log.close()
    acknowledged = [row for rows in printed for row in rows]
    assert set(acknowledged) <= set(stored)
    assert len(stored) == len(set(stored)) == n_rounds * PER_ROUND
    assert len(stored) - len(acknowledged) < len(printed)  # at most one was on its way each time
    undisturbed = Session(make_detector(), DATA.X, query="rd", random_state=1)
    answer(undisturbed, n_rounds)
    assert stored == [entry.row for entry in undisturbed.history]
    with open_session(address) as session:
        assert session.round == n_rounds
        np.testing.assert_array_equal(
            session.start().detector.decision_scores_, undisturbed.detector.decision_scores_
        )


def test_a_killed_process_loses_nothing_it_acknowledged(store_url):
    check(store_url, kill_repeatedly(store_url, n_kills=3, n_rounds=20), n_rounds=20)


if __name__ == "__main__":
    lines = kill_repeatedly(sys.argv[1], n_kills=int(sys.argv[2]), n_rounds=120)
    check(sys.argv[1], lines, n_rounds=120)
    n_acknowledged = sum(map(len, lines))
    report(f"killed {len(lines) - 1} times, {n_acknowledged} answers acknowledged")
