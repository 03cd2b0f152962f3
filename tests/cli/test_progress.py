"""Bars with the time left."""

import io
import re

import numpy as np
from rich.console import Console

from imboost import TableDetector
from imboost.cli import progress
from imboost.labels import unlabelled
from imboost.scoring import training_time
from imboost.scoring.training_time import estimate_seconds
from imboost.tables.schema import Schema
from program_running import orders, run_well, write


def test_a_bar_shows_the_time_left(monkeypatch):
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "Console", lambda **_: console)
    with progress.timed_stage("training [red]x\x1b[0m", 100.0):
        pass
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", output.getvalue())
    assert "training [red]x[0m" in text
    assert re.search(r"about 0:01:(39|40) left", text)


def test_an_overdue_bar_claims_no_time_left():
    bar = progress._TimedProgress(console=Console(file=io.StringIO()))
    bar.add_task("training", total=1e-9)
    [task] = bar.tasks
    list(bar.get_renderables())
    assert task.completed == progress.LAST_FRACTION * 1e-9
    assert str(progress._TimeLeft().render(task)) == ""


def test_the_time_of_a_training_is_estimated_for_large_tables_only(monkeypatch):
    table = orders(2500)
    schema, labels = Schema.fit(table), unlabelled(2500)
    detector = TableDetector("trees", random_state=0)
    assert estimate_seconds(detector, table, labels, schema) is None
    monkeypatch.setattr(training_time, "MIN_ROWS", 2000)
    monkeypatch.setattr(training_time, "SAMPLES", (100, 400))
    seconds = estimate_seconds(detector, table, labels, schema)
    assert seconds > 0
    assert not hasattr(detector, "detector_")


def test_the_estimate_does_not_change_the_model(tmp_path, monkeypatch):
    path = write(orders(1200), tmp_path / "orders.csv")
    run_well("fit", path, "--detector", "trees", "--out", tmp_path / "plain")
    monkeypatch.setattr(training_time, "MIN_ROWS", 1000)
    monkeypatch.setattr("imboost.cli.fit.is_shown", lambda: True)
    run_well("fit", path, "--detector", "trees", "--out", tmp_path / "timed")
    from imboost import persistence

    plain, timed = (persistence.load(tmp_path / name) for name in ("plain", "timed"))
    np.testing.assert_array_equal(plain.decision_scores_, timed.decision_scores_)
