"""A small table that is being labelled, for tests."""

from dataclasses import replace
from pathlib import Path

import pyarrow.csv

from imboost.datasets.orders import MixedTable, mixed_table
from imboost.detectors.stack import Stack
from imboost.detectors.table_detector import TableDetector
from imboost.labelling.project import Project
from imboost.labelling.workspace import Workspace
from trained_sessions import reuse_training

N_QUESTIONS = 4
COLUMNS = ["order_id", "amount", "visits", "city"]  # few, so that training is quick


def quick_detector(roles=None):
    """Return a detector that trains within a second."""
    return TableDetector(
        Stack(n_trees=10, n_isolation_trees=20), roles=dict(roles or {}), random_state=0
    )


def write_orders(folder: Path, n_rows: int = 200) -> tuple[Path, MixedTable]:
    """Write a few columns of orders with wrong cells as a CSV file."""
    made = mixed_table(n_rows, contamination=0.05, seed=2)
    made = replace(made, table=made.table.select(COLUMNS))
    path = folder / "orders.csv"
    pyarrow.csv.write_csv(made.table, path)
    return path, made


def make_project(
    path: Path, url: str | None = None, *, is_trained: bool = True, **settings
) -> Project:
    """Return a project whose session is a file beside the table.

    Its model has been trained before, unless the test is about the first training.
    """

    def make_workspace(session):
        given = {"n_questions": N_QUESTIONS, "in_process": True, **settings}
        return Workspace(reuse_training(session) if is_trained else session, **given)

    return Project(
        path,
        url or str(path.with_suffix(".session.db")),
        detector=quick_detector(),
        make_workspace=make_workspace,
        audit_share=0.0,
    )


def start(project: Project) -> Workspace:
    """Open and start a project, and wait for the first question."""
    project.open()
    project.start()
    workspace = project.workspace
    assert workspace is not None
    workspace.wait_until_idle()
    assert workspace.error == ""
    return workspace
