"""A table with a stored session and a trained model, for tests of what comes out of it."""

from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.csv

from conftest import make_quick
from imboost import Session, TableDetector
from imboost.datasets.orders import mixed_table
from imboost.labelling.columns import Columns
from imboost.labelling.snapshot import Snapshot


@dataclass
class LabelledTable:
    """What exports need of a workspace, without its training thread."""

    path: Path
    session: Session
    is_ready: bool = True
    name: str = "default"
    phase: str = "questions"

    def close(self):
        """Do nothing: there is no training thread."""

    @property
    def url(self):
        return str(self.path.with_name("orders.session.db"))

    @property
    def workspace(self):
        return self

    def take_snapshot(self):
        table = self.session.X
        self.snapshot = Snapshot(self.session)
        schema = self.snapshot.detector.schema_
        self.columns = Columns(table, schema.parse(table), ["order_id"])


def write_orders(folder, n_rows=120, extra=None):
    """Write a table of orders, with more columns if there are any; return its path."""
    table = mixed_table(n_rows).table
    for name, values in (extra or {}).items():
        table = table.append_column(name, pa.array(values))
    path = folder / "orders.csv"
    pa.csv.write_csv(table, path)
    return path


def label_orders(folder, **settings):
    """Start a session on a table of orders, answer six rows and train."""
    if settings:
        return _label(folder, write_orders(folder, **settings))
    answered, trainer = _answered()
    copytree(answered.name, folder, dirs_exist_ok=True)
    session = Session.open(folder / "orders.session.db", folder / "orders.csv")
    session.trainer = copy(trainer)
    session.start()
    return _labelled(folder / "orders.csv", session)


@cache
def _answered():
    """Return a folder with an answered session, and the trainer with its model."""
    folder = TemporaryDirectory()
    path = Path(folder.name)
    session = _label(path, write_orders(path)).session
    session.log.close()
    return folder, session.trainer


def _label(folder, path):
    detector = TableDetector(make_quick("trees"), random_state=0)
    session = Session.open(folder / "orders.session.db", path, detector, random_state=0)
    session.tell([0, 1, 2], ["inlier", "outlier", "inlier"], who="Ada", seconds=2.5)
    session.tell([3], ["unsure"], who="bo@example.org", note="who knows?")
    session.tell([4, 5], ["skip", "outlier"])
    session.refine().ask(3)
    return _labelled(path, session)


def _labelled(path, session):
    labelled = LabelledTable(path, session)
    labelled.take_snapshot()
    return labelled
