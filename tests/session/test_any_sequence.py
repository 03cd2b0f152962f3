"""Whatever people do, a session that is closed and reopened goes on as one that never was."""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from imboost import Session, Trees
from imboost.datasets import planted_outliers
from imboost.errors import SessionError
from postgres_server import postgres_database

N_ROWS = 24
DATA = planted_outliers(N_ROWS, 3, seed=2)
PEOPLE = st.sampled_from(["Ada", "Bob", ""])
ANSWERS = st.sampled_from(["inlier", "outlier", "unsure", "skip"])


def detector():
    return Trees(
        n_trees=5, n_isolation_trees=5, n_neighbors=(2,), contamination=0.1, random_state=3
    )


class Dialogue(RuleBasedStateMachine):
    """The same steps with a session in memory, and with one in a store that is often reopened."""

    url = None

    @initialize(query=st.sampled_from(["spread", "ab", "rd"]), share=st.sampled_from([0.0, 0.5]))
    def start(self, query, share):
        self.folder = Path(tempfile.mkdtemp())
        self.address = self.url() if self.url else self.folder / "a.session"
        chosen = {"query": query, "audit_share": share, "random_state": 1}
        self.undisturbed = Session(detector(), DATA.X, **chosen)
        self.stored = Session.open(self.address, DATA.X, detector(), **chosen)
        self.n_requests = 0

    def both(self, step):
        """Take a step in both sessions; it returns the same, or fails in the same way."""
        found = []
        for session in (self.undisturbed, self.stored):
            try:
                found.append(step(session))
            except SessionError as error:
                found.append(str(error))
        assert found[0] == found[1]

    @rule(n=st.integers(1, 4))
    def ask(self, n):
        self.both(lambda session: session.ask(n))

    @rule(n=st.integers(1, 6))
    def top_up(self, n):
        self.both(lambda session: session.top_up(n))

    @rule(who=PEOPLE, answers=st.lists(ANSWERS, min_size=1, max_size=4), resolves=st.booleans())
    def answer_questions(self, who, answers, resolves):
        rows = self.undisturbed.open_questions[: len(answers)]
        self.tell(rows, answers[: len(rows)], who, resolves)

    @rule(
        who=PEOPLE,
        answers=st.dictionaries(st.integers(0, 5), ANSWERS, min_size=1, max_size=3),
        resolves=st.booleans(),
    )
    def answer_any_rows(self, who, answers, resolves):
        self.tell(list(answers), list(answers.values()), who, resolves)

    def tell(self, rows, answers, who, resolves):
        self.n_requests += 1
        for _ in range(1 + self.n_requests % 2):  # every other request is repeated
            self.both(
                lambda session: session.tell(
                    rows, answers, who=who, resolves=resolves, request=f"r{self.n_requests}"
                )
            )

    @rule(who=PEOPLE)
    def undo(self, who):
        self.both(lambda session: session.undo(who))

    @rule()
    def refine(self):
        self.both(lambda session: session.refine().round)

    @rule()
    def reopen(self):
        self.stored.close()
        self.stored = Session.open(self.address, DATA.X)

    @invariant()
    def they_are_the_same(self):
        one, other = self.undisturbed, self.stored
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.open_questions == other.open_questions
        assert one.round == other.round
        assert one.answers == other.answers
        assert one.conflicts == other.conflicts
        assert not set(one.conflicts) & set(one.answers)
        progress = one.progress()
        assert progress == other.progress()
        assert progress.counts == Counter(one.answers.values())
        assert Counter(progress.is_outlier) == Counter(one.labels[one.labels >= 0] == 1)
        assert (progress.n_open, progress.n_conflicts) == (
            len(one.open_questions),
            len(one.conflicts),
        )
        decided = {row for row, answer in one.answers.items() if answer != "skip"}
        assert not set(one.open_questions) & (decided | set(one.conflicts))
        assert [(e.row, e.answer, e.who) for e in one.history] == [
            (e.row, e.answer, e.who) for e in other.history
        ]

    def teardown(self):
        scores = [
            each.start().detector.decision_scores_ for each in (self.undisturbed, self.stored)
        ]
        np.testing.assert_array_equal(*scores)
        self.stored.close()
        shutil.rmtree(self.folder)


STEPS = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def test_any_sequence_of_steps_survives_reopening():
    run_state_machine_as_test(
        Dialogue, settings=settings(max_examples=25, stateful_step_count=20, **STEPS)
    )


def test_any_sequence_of_steps_survives_reopening_in_postgresql(postgres_server):
    class InPostgres(Dialogue):
        url = staticmethod(lambda: postgres_database(postgres_server))

    run_state_machine_as_test(
        InPostgres, settings=settings(max_examples=8, stateful_step_count=20, **STEPS)
    )
