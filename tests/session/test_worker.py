"""Training in another process, which may be killed."""

import numpy as np
import pytest

from conftest import make_quick
from dying_detector import DIES_IN, Dying
from imboost import Session, TableDetector
from imboost.errors import SettingError, TrainingError
from imboost.labelling.workspace import Workspace
from imboost.session.store import SQLLog
from imboost.session.trainer import WorkerTrainer
from program_running import orders


@pytest.fixture
def dies_in(tmp_path, monkeypatch):
    """A file that names the method in which the process is killed."""
    path = tmp_path / "method"
    monkeypatch.setenv(DIES_IN, str(path))
    return path


@pytest.fixture
def workspace(tmp_path):
    table = orders(300)
    log = SQLLog(tmp_path / "a.session")
    detector = TableDetector(Dying(n_trees=5, n_isolation_trees=5), random_state=0)
    workspace = Workspace(Session(detector, table, log=log, random_state=0), n_questions=4)
    yield workspace
    workspace.stop()
    workspace.wait_until_stopped()
    workspace.session.close()


def answer(workspace, n):
    """Answer the next questions; return their rows."""
    rows = []
    for number in range(n):
        rows.append(workspace.take_question(""))
        workspace.answer(rows[-1:], "inlier" if number % 2 else "outlier", who="")
    return rows


def test_another_process_trains_the_same_model(planted):
    sessions = [Session(make_quick("stack"), planted.X, random_state=0) for _ in range(2)]
    with sessions[0] as session:
        session.trainer = WorkerTrainer(session.trainer)
        for session in sessions:
            rows = session.ask(6)
            session.tell(rows, planted.y[rows].tolist())
            session.refine()
        first, second = (one.detector.decision_scores_ for one in sessions)
        np.testing.assert_array_equal(first, second)
        assert sessions[0].ask(4) == sessions[1].ask(4)


def test_errors_in_the_process_are_raised_and_the_process_goes_on(planted, dies_in):
    with Session(Dying(n_trees=0), planted.X, random_state=0) as session:
        session.trainer = WorkerTrainer(session.trainer)
        with pytest.raises(TrainingError, match="no model yet"):
            session.trainer.explain([0])
        with pytest.raises(SettingError, match="n_trees"):
            session.start()


def test_a_process_that_is_killed_during_a_training_is_shown_and_loses_no_answer(
    workspace, dies_in
):
    workspace.start()
    workspace.wait_until_idle()
    dies_in.write_text("refine")
    rows = answer(workspace, 4)
    workspace.wait_until_idle()
    assert "ended unexpectedly" in workspace.error
    assert workspace.training is None
    rows += answer(workspace, 1)
    assert workspace.snapshot.round == 0
    workspace.retry()
    workspace.wait_until_idle()
    assert workspace.error == ""
    assert workspace.snapshot.round == 1
    assert (workspace.snapshot.detector.decision_.labels >= 0).sum() == len(rows)
    assert [entry.row for entry in workspace.session.history] == rows


def test_a_first_training_that_is_killed_can_be_started_again(workspace, dies_in):
    dies_in.write_text("fit")
    workspace.start()
    workspace.wait_until_idle()
    assert "ended unexpectedly" in workspace.error
    assert not workspace.is_ready
    workspace.retry()
    workspace.wait_until_idle()
    assert workspace.error == ""
    assert workspace.take_question("") is not None
