"""Sessions that are kept in a store: started, closed and continued."""

import os

import numpy as np
import pandas as pd
import pytest

from conftest import make_quick
from imboost import IMBoost, Session, Stack, TableDetector, make_detector
from imboost.detectors import DETECTORS
from imboost.errors import SessionError
from imboost.query import RandomRows
from imboost.session.opening import build_detector, describe_detector
from imboost.session.store import SQLLog

SETTINGS = {"n_trees": 20, "n_isolation_trees": 20}


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=80), "kind": rng.choice(["a", "b"], 80)})
    frame["code"] = rng.integers(0, 5, 80)
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def play(session):
    rows = session.ask(6)
    session.tell(rows, ["outlier", "inlier", "inlier", "inlier", "unsure", "skip"], who="Ada")
    session.refine()
    rows = session.ask(4)
    session.tell(rows[:2], ["inlier", "outlier"], who="Bob")
    return session


def assert_same(one, other):
    assert one.open_questions == other.open_questions
    assert one.round == other.round
    assert one.history == other.history
    scores = [each.start().detector.decision_scores_ for each in (one, other)]
    np.testing.assert_array_equal(*scores)
    assert one.detector.threshold_ == other.detector.threshold_
    assert one.detector.get_params().keys() == other.detector.get_params().keys()


def test_a_session_continues_from_its_address_alone(store_url, table):
    detector = TableDetector(
        Stack(**SETTINGS), roles={"code": "categorical"}, scaling="quantile", contamination=0.1
    )
    session = play(Session.open(store_url, table, detector, query="mm", audit_share=0.25))
    reopened = Session.open(store_url)
    assert_same(session, reopened)
    assert reopened.audit_share == 0.25
    roles = {column.name: column.role for column in reopened.detector.schema_}
    assert roles["code"] == "categorical"
    reopened.tell(reopened.open_questions, ["inlier"] * len(reopened.open_questions))
    questions = {entry.strategy for entry in reopened.history}
    assert questions <= {"mm", "audit"}
    for each in (session, reopened):
        each.close()


def test_a_closed_session_goes_on_as_if_it_had_never_been_closed(store_url, planted):
    def start(url):
        return Session.open(url, planted.X, Stack(**SETTINGS, random_state=1), random_state=0)

    undisturbed = Session(Stack(**SETTINGS, random_state=1), planted.X, random_state=0)
    play(undisturbed)
    with start(store_url) as session:
        play(session)
    with start(store_url) as session:
        assert session.ask(4) == undisturbed.ask(4)
        for each in (session, undisturbed):
            each.tell(each.open_questions, ["inlier"] * 2)
            each.refine()
        assert session.ask(5) == undisturbed.ask(5)
        np.testing.assert_array_equal(
            session.detector.decision_scores_, undisturbed.detector.decision_scores_
        )


def test_a_relative_path_is_found_from_another_folder(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Session.open("a.session", "table.csv", TableDetector(Stack(**SETTINGS))).close()
    monkeypatch.chdir(os.sep)
    with Session.open(tmp_path / "a.session") as session:
        assert len(session.labels) == 80


def test_the_default_detector_suits_the_table(tmp_path, table, planted):
    with Session.open(tmp_path / "a", table) as session:
        assert type(session.detector) is TableDetector
    with Session.open(tmp_path / "b", pd.read_csv(table)) as session:
        assert type(session.detector) is TableDetector
    with Session.open(tmp_path / "c", planted.X) as session:
        assert type(session.detector) is Stack


def test_a_table_is_needed_to_start_and_one_that_was_no_file_to_continue(tmp_path, planted):
    path = tmp_path / "a.session"
    with pytest.raises(SessionError, match=r"no session 'default' in .*: give a table to start"):
        Session.open(path)
    Session.open(path, planted.X).close()
    with pytest.raises(SessionError, match="was not a file: give the same table again"):
        Session.open(path)
    with pytest.raises(SessionError, match="or open one of: default"):
        Session.open(path, name="other")


def test_another_table_is_refused(store_url, planted):
    Session.open(store_url, planted.X, Stack(**SETTINGS)).close()
    with pytest.raises(SessionError, match="other values"):
        Session.open(store_url, planted.X + 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"detector": Stack()}, "started with detector stack with .*n_trees=20, not stack"),
        ({"detector": IMBoost()}, "not imboost"),
        ({"query": "rd"}, "started with query spread, not rd"),
        ({"query": RandomRows()}, "not a RandomRows"),
        ({"audit_share": 0.5}, "started with audit_share 0.1, not 0.5"),
        ({"random_state": 8}, "another random_state than 8"),
    ],
)
def test_other_settings_are_refused(tmp_path, planted, given, message):
    own = {"detector": Stack(**SETTINGS), "audit_share": 0.1, "random_state": 7}
    Session.open(tmp_path / "a.session", planted.X, **own).close()
    Session.open(tmp_path / "a.session", planted.X, query="spread", **own).close()
    with pytest.raises(SessionError, match=message):
        Session.open(tmp_path / "a.session", planted.X, **given)


class Sum(Stack):
    """A detector that is not one of the package."""


def test_what_cannot_be_stored_has_to_be_given_again(tmp_path, planted):
    given = {"detector": Sum(**SETTINGS), "query": RandomRows()}
    with Session.open(tmp_path / "a.session", planted.X, **given) as session:
        play(session)
    with pytest.raises(SessionError, match="a Sum that cannot be stored: give the same detector"):
        Session.open(tmp_path / "a.session", planted.X)
    with pytest.raises(SessionError, match="a RandomRows that cannot be stored"):
        Session.open(tmp_path / "a.session", planted.X, detector=Sum(**SETTINGS))
    with Session.open(tmp_path / "a.session", planted.X, **given) as reopened:
        assert_same(session, reopened)


def test_a_session_whose_process_was_killed_before_its_start_can_be_started(tmp_path, planted):
    log = SQLLog(tmp_path / "a.session")
    log.save_settings({"table": None, "detector": {"name": "aad"}, "query": "rd"})
    log.close()
    with Session.open(tmp_path / "a.session", planted.X, Stack(**SETTINGS)) as session:
        assert type(session.detector) is Stack
    with Session.open(tmp_path / "a.session", planted.X) as session:
        assert type(session.detector) is Stack


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_every_detector_of_the_registry_is_rebuilt_from_its_settings(name):
    for detector in (make_detector(name), make_quick(name, contamination=0.2)):
        described = describe_detector(detector)
        rebuilt = build_detector(described)
        assert type(rebuilt) is type(detector)
        seedless = detector.set_params(random_state=None).get_params()
        assert rebuilt.get_params() == seedless
        table = describe_detector(TableDetector(detector))
        assert describe_detector(build_detector(table)) == table


def test_a_detector_is_named_as_in_the_registry():
    network = Stack(base_learners=("in_context",))
    assert describe_detector(network) == {"name": "pretrained", "settings": {}}
    assert describe_detector(TableDetector("imboost"))["settings"] == {"detector": "imboost"}
    assert describe_detector(Stack(n_neighbors=(5, 10)))["settings"] == {"n_neighbors": [5, 10]}
    assert describe_detector(TableDetector(Sum())) == {"class": "TableDetector"}
