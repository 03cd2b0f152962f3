"""What the cards, the panel and the lists say about answers."""

import numpy as np
import pytest

from imboost.labelling import cards, routes
from imboost.labelling.cards import panel_view, question_view
from imboost.labelling.routes import disagreements_view, history_view, suspects_view
from imboost.session import Answer
from imboost.session.consensus import AnnotatorAgreement
from labelling_project import make_project, start, write_orders


@pytest.fixture
def workspace(tmp_path):
    project = make_project(write_orders(tmp_path)[0], second_opinions=1.0, n_questions=10)
    yield start(project)
    project.close()


def disagree(workspace, row):
    workspace.session.tell([row], ["outlier"], who="ann")
    workspace.session.tell([row], ["inlier"], who="bob")


def test_a_group_has_no_row_about_which_people_disagree(workspace, monkeypatch):
    row = workspace.take_question("ann")
    others = [other for other in range(4) if other != row][:3]
    monkeypatch.setattr(cards, "find_group", lambda *_: ("alike", others))
    disagree(workspace, others[0])
    group = question_view(workspace, row, explain=True).group
    assert [other.row for other in group.rows] == others[1:]


def test_rows_about_which_people_disagree_are_listed_as_answered(workspace):
    disagree(workspace, 7)
    assert [row.row for row in suspects_view(workspace, answered="answered")["rows"]] == [7]
    assert suspects_view(workspace, answered="unanswered")["n_rows"] == 199


def test_the_panel_counts_a_corrected_row_once(workspace):
    workspace.answer([3], "outlier", who="", from_list=True)
    workspace.answer([4], "inlier", who="", from_list=True)
    workspace.answer([3], "inlier", who="", from_list=True)
    panel = panel_view(workspace)
    assert panel["counts"] == {Answer.INLIER: 2}
    assert "0 outliers in 2 answers" in panel["found_picture"]


def test_a_second_opinion_is_asked_without_the_first_answer(workspace):
    row = workspace.take_question("ann")
    workspace.answer([row], "outlier", who="ann", note="surely")
    asked = question_view(workspace, row, is_asked=True)
    assert (asked.answers, asked.note) == ([], "")
    assert "second opinion" in asked.origin
    opened = question_view(workspace, row)
    assert (opened.answers, opened.note) == ([("ann", Answer.OUTLIER)], "surely")
    assert "list" in opened.origin


@pytest.mark.parametrize(
    ("agreement", "text"),
    [
        (AnnotatorAgreement(0, float("nan"), float("nan")), ""),
        (AnnotatorAgreement(1, 1.0, float("nan")), "100% of 1 row"),
        (AnnotatorAgreement(4, 0.75, 0.5), "75% of 4 rows, kappa 0.50"),
    ],
)
def test_an_undefined_kappa_is_not_shown(agreement, text):
    assert cards._write_agreement(agreement) == text


def test_a_contradicted_answer_is_shown_until_somebody_confirms_it(workspace):
    workspace.answer([5], "outlier", who="ann", from_list=True)
    workspace.snapshot.doubtful.append((5, Answer.OUTLIER, 0.01))
    assert [item["row"] for item in disagreements_view(workspace)["doubtful"]] == [5]
    workspace.resolve(5, "outlier", who="ann")
    assert disagreements_view(workspace)["doubtful"] == []


def test_similar_rows_do_not_include_the_row_itself(workspace):
    workspace.session.tell([3, 4], ["inlier", "inlier"])
    assert [other.row for other in question_view(workspace, 3).similar] == [4]


def test_a_card_says_on_which_side_of_the_threshold_its_row_is(workspace):
    scores = workspace.snapshot.scores
    assert question_view(workspace, int(scores.argmax())).is_outlier
    assert not question_view(workspace, int(scores.argmin())).is_outlier


def test_a_card_says_what_the_model_knows_about_its_row(workspace):
    snapshot = workspace.snapshot
    card = question_view(workspace, 7)
    assert (card.row, card.n_rows) == (7, 200)
    assert card.score == snapshot.scores[7]
    assert card.rank == 1 + (snapshot.scores > snapshot.scores[7]).sum()
    assert card.probability == snapshot.probabilities[7]


def test_similar_rows_are_the_nearest_ones_with_their_answers(workspace):
    distances = np.square(workspace.points - workspace.points[3]).sum(axis=1)
    nearest = [int(row) for row in np.argsort(distances, kind="stable") if row != 3]
    answers = {nearest[0]: "outlier", nearest[1]: "inlier", nearest[2]: "inlier"}
    far = dict.fromkeys(nearest[-3:], "outlier")
    workspace.session.tell([*far, *answers], [*far.values(), *answers.values()])
    similar = question_view(workspace, 3).similar
    assert {row.row: row.answer for row in similar} == answers
    assert similar[0].row == nearest[0]


def test_the_panel_has_the_estimates_and_counts_disagreements(workspace):
    disagree(workspace, 7)
    workspace.answer([5], "outlier", who="ann", from_list=True)
    workspace.snapshot.doubtful.append((5, Answer.OUTLIER, 0.01))
    workspace.snapshot.precision, workspace.snapshot.missed = "90% (80% to 95%)", "3 (1 to 9)"
    panel = panel_view(workspace)
    assert (panel["precision"], panel["missed"]) == ("90% (80% to 95%)", "3 (1 to 9)")
    assert panel["n_disagreements"] == 2


@pytest.mark.parametrize("sort", ["score", "amount"])
def test_the_list_is_sorted_in_both_directions_page_by_page(workspace, monkeypatch, sort):
    monkeypatch.setattr(routes, "PAGE_ROWS", 150)
    keys = workspace.snapshot.scores if sort == "score" else workspace.columns.sort_keys(sort)
    for order, sign in (("asc", 1), ("desc", -1)):
        pages = [
            suspects_view(workspace, sort=sort, order=order, page=at)["rows"] for at in (1, 2)
        ]
        assert [len(page) for page in pages] == [150, 50]
        rows = [row.row for page in pages for row in page]
        assert rows == np.argsort(sign * keys, kind="stable").tolist()


def test_the_history_marks_answers_that_a_correction_replaced(workspace):
    for answer in ("outlier", "unsure", "inlier"):
        workspace.answer([3], answer, who="ann", from_list=True)
    entries = history_view(workspace)["entries"]
    assert [(line["entry"].answer, line["is_current"]) for line in entries] == [
        ("inlier", True),
        ("unsure", False),
        ("outlier", False),
    ]


def test_the_pages_of_the_history_number_its_entries_from_the_oldest(workspace, monkeypatch):
    monkeypatch.setattr(routes, "PAGE_ROWS", 2)
    for row in (3, 4, 5):
        workspace.answer([row], "inlier", who="ann", from_list=True)
    pages = [history_view(workspace, page) for page in (1, 2, 9)]
    numbers = [[(line["number"], line["entry"].row) for line in page["entries"]] for page in pages]
    assert numbers == [[(3, 5), (2, 4)], [(1, 3)], [(1, 3)]]
    assert {(page["n_pages"], page["n_entries"]) for page in pages} == {(2, 3)}


def test_a_group_answer_frees_the_question_of_another_person(workspace):
    row, other = workspace.take_question("ann"), workspace.take_question("bob")
    workspace.answer([row, other], "outlier", who="ann")
    assert not workspace.leases.is_held_by_other(other, "ann")
