"""Questions and answers in a terminal."""

import io

import pytest
from rich.console import Console

from answered_orders import write_orders
from conftest import make_quick
from imboost import Session, TableDetector
from imboost.errors import StoreError
from imboost.labelling.cards import question_view
from imboost.labelling.terminal import Terminal
from imboost.labelling.workspace import Workspace
from imboost.present.formatting import printable
from imboost.session import Answer
from trained_sessions import reuse_training

HOSTILE = "\x1b[31mred\x07\x9b2J\u202e[bold]"


@pytest.fixture
def make_workspace(tmp_path):
    """Return a function that starts a workspace; all of them are stopped at the end."""
    started = []

    def make(n_questions=4, **settings):
        path = write_orders(tmp_path, **settings)
        detector = TableDetector(make_quick("stack"), random_state=0)
        session = Session.open(tmp_path / "orders.session.db", path, detector, random_state=0)
        workspace = Workspace(reuse_training(session), n_questions=n_questions, in_process=True)
        workspace.start()
        started.append(workspace)
        return workspace

    yield make
    for workspace in started:
        workspace.stop()
        workspace.wait_until_idle()


def play(workspace, keys, width=100, **settings):
    """Press keys; return what the terminal shows."""
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    settings = {"waits_for_training": True, "console": console, **settings}
    Terminal(workspace, keys, **settings).run()
    return console.file.getvalue()


def answers(workspace):
    return [(entry.answer, entry.who) for entry in workspace.session.history]


def test_keys_answer_the_questions_in_their_order(make_workspace):
    workspace = make_workspace()
    play(workspace, "oius", who="Ada")
    given = [Answer.OUTLIER, Answer.INLIER, Answer.UNSURE, Answer.SKIP]
    assert answers(workspace) == [(answer, "Ada") for answer in given]
    assert all(entry.request for entry in workspace.session.history)


def test_a_card_shows_the_reasons_the_other_cells_and_the_status(make_workspace):
    workspace = make_workspace()
    text = play(workspace, "q", width=300)
    row = workspace.session.open_questions
    shown = [one for one in row if f"{workspace.row_name(one)}   score" in text]
    assert len(shown) == 1
    question = question_view(workspace, shown[0], explain=True)
    assert question.reasons
    for cell in question.unusual_cells:
        assert cell.position in text
        assert cell.expected in text
    for cell in question.other_cells:
        assert f"{cell.column} " in text
    assert f"rank {question.rank} of 120 rows" in text
    assert "Round 0 · 0 answers · 0 outliers found" in text


def test_undo_brings_the_question_back(make_workspace):
    workspace = make_workspace()
    text = play(workspace, "ozi")
    assert answers(workspace) == [(Answer.INLIER, "")]
    first = workspace.row_name(workspace.session.history[0].row)
    assert text.count(f"{first}   score") == 2


def test_undo_without_an_answer_says_so(make_workspace):
    workspace = make_workspace()
    assert "no answer" in play(workspace, "z").lower()


def test_next_shows_another_question(make_workspace):
    workspace = make_workspace()
    play(workspace, "nii")
    rows = [entry.row for entry in workspace.session.history]
    assert len(set(rows)) == 2


def test_a_group_key_answers_all_rows_of_the_group(make_workspace, monkeypatch):
    from imboost.labelling import cards

    def like(columns, row, *_):
        return "alike", [other for other in range(6) if other != row]

    monkeypatch.setattr(cards, "find_group", like)
    workspace = make_workspace(n_questions=20)
    text = play(workspace, "O")
    told = workspace.session.history
    assert {entry.answer for entry in told} == {Answer.OUTLIER}
    assert {*range(6)} <= {entry.row for entry in told}
    assert "more rows look like this one: alike" in text
    assert f"O I all {len(told)}" in text


def test_a_group_key_without_a_group_is_no_answer(make_workspace, monkeypatch):
    from imboost.labelling import cards

    monkeypatch.setattr(cards, "find_group", lambda *_: ("", []))
    workspace = make_workspace()
    text = play(workspace, "OIx?")
    assert not workspace.session.history
    assert text.count("undo the last answer") == 4


def test_a_new_round_follows_enough_answers(make_workspace):
    workspace = make_workspace()
    text = play(workspace, "oiioi")
    assert "Round 1 · 4 answers · 2 outliers found" in text
    assert workspace.session.round == 1


def test_an_answer_that_could_not_be_stored_is_asked_again(make_workspace, monkeypatch):
    workspace = make_workspace()
    tell, failures = workspace.session.tell, [StoreError("The disk is full.")]

    def fail_once(*args, **settings):
        if failures:
            raise failures.pop()
        tell(*args, **settings)

    monkeypatch.setattr(workspace.session, "tell", fail_once)
    text = play(workspace, "oi")
    assert "Not saved: The disk is full." in text
    assert answers(workspace) == [(Answer.INLIER, "")]


def test_it_ends_when_every_row_has_an_answer(make_workspace):
    workspace = make_workspace(n_rows=12, n_questions=30)
    text = play(workspace, "oi" * 20)
    assert "No row is left to ask about." in text
    assert len(workspace.session.answers) == 12


def test_text_of_the_table_cannot_control_the_terminal(make_workspace):
    workspace = make_workspace(extra={HOSTILE: [HOSTILE] * 119 + ["x"]})
    text = play(workspace, "iq", width=400)
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
    assert "[31mred2J[bold]" in text  # visible, and not taken for rich's markup


def test_the_same_answers_lead_to_the_same_scores_as_in_python(make_workspace):
    workspace = make_workspace()
    play(workspace, "oiioi")
    told = [(entry.row, entry.answer) for entry in workspace.session.history]
    detector = TableDetector(make_quick("stack"), random_state=0)
    other = Session(detector, workspace.session.X, random_state=0)
    rows, given = zip(*told[:4], strict=True)
    other.tell(list(rows), list(given))
    other.refine()
    scores = workspace.session.detector.decision_scores_
    assert other.detector.decision_scores_.tolist() == scores.tolist()


def test_printable_text_is_one_line():
    assert printable("a\tb\r\nc\x85d\u2028e") == "a b  c d e"
