"""What terminals show during long jobs, and the expected time of a training."""

import io
import re
from importlib import import_module
from unittest.mock import Mock

import numpy as np
from rich.console import Console

from imboost import TableDetector
from imboost.cli import progress
from imboost.labels import unlabelled
from imboost.scoring import training_time
from imboost.scoring.training_time import estimate_seconds
from imboost.tables.schema import Schema
from program_running import orders, run_well, write

fit = import_module("imboost.cli.fit")  # `imboost.cli.main` has a function of this name


def test_a_terminal_shows_what_is_done_without_its_control_characters(monkeypatch):
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "Console", lambda **_: console)
    with progress.stage("training [red]x\x1b[0m"):
        pass
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", output.getvalue())
    assert "training [red]x[0m" in text


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
    monkeypatch.setattr(fit, "is_shown", lambda: True)
    stages = Mock(wraps=fit.stage)
    monkeypatch.setattr(fit, "stage", stages)
    run_well("fit", path, "--detector", "trees", "--out", tmp_path / "timed")
    assert any(": a moment" in call.args[0] for call in stages.call_args_list)
    from imboost import persistence

    plain, timed = (persistence.load(tmp_path / name) for name in ("plain", "timed"))
    np.testing.assert_array_equal(plain.decision_scores_, timed.decision_scores_)
